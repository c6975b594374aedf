import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { isRecord } from "../../api/object.ts";

/** Longer tokens are refused unread; ours have about a kilobyte. */
const MAX_TOKEN_LENGTH = 16 * 1024;
/** ECDSA signatures in a token are two numbers, and not DER. */
const DSA_ENCODING = "ieee-p1363";

/** The claims of a token. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** A pair of keys for compact JSON web signatures. */
export interface SigningKey {
  /** The algorithm, `ES256`, `RS256`, …, which follows from the key and never from a token. */
  readonly algorithm: string;
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const ECDSA: Readonly<Record<string, { algorithm: string; hash: string }>> = {
  prime256v1: { algorithm: "ES256", hash: "sha256" },
  secp384r1: { algorithm: "ES384", hash: "sha384" },
  secp521r1: { algorithm: "ES512", hash: "sha512" },
};
const RSA = { algorithm: "RS256", hash: "sha256" };

/** Throws for keys that no token can be signed with. */
export function readSigningKey(pems: { privatePem: string; publicPem: string; keyId: string }): SigningKey {
  const publicKey = createPublicKey(pems.publicPem);
  const { algorithm } = schemeOf(publicKey);
  return { algorithm, keyId: pems.keyId, privateKey: createPrivateKey(pems.privatePem), publicKey };
}

/** Signs the claims as `header.claims.signature`. */
export function signClaims({ algorithm, keyId, privateKey }: SigningKey, claims: TokenClaims): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: algorithm, kid: keyId })}.${encode(claims)}`;
  const signature = sign(schemeOf(privateKey).hash, Buffer.from(signed), {
    key: privateKey,
    dsaEncoding: DSA_ENCODING,
  });
  return `${signed}.${signature.toString("base64url")}`;
}

/**
 * Returns the claims of a token that the key signed; undefined for any other text. The caller checks the claims
 * themselves (time, audience, …). A token that names another algorithm, `none` included, is refused before its
 * signature is verified.
 */
export function verifySignature({ algorithm, publicKey }: SigningKey, token: string): TokenClaims | undefined {
  const [header, claims] = decodeParts(token) ?? [];
  if (header === undefined || header["alg"] !== algorithm || header["crit"] !== undefined) return undefined;
  const end = token.lastIndexOf(".");
  const signature = Buffer.from(token.slice(end + 1), "base64url");
  const signed = Buffer.from(token.slice(0, end));
  const key = { key: publicKey, dsaEncoding: DSA_ENCODING } as const;
  return verify(schemeOf(publicKey).hash, signed, key, signature) ? claims : undefined;
}

function decodeParts(token: string): [header: TokenClaims, claims: TokenClaims] | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined;
  const [header = "", claims = ""] = token.split(".").map((part) => Buffer.from(part, "base64url").toString());
  try {
    const parts: unknown[] = [JSON.parse(header), JSON.parse(claims)];
    const [first, second] = parts;
    return isRecord(first) && isRecord(second) ? [first, second] : undefined;
  } catch {
    return undefined;
  }
}

function schemeOf(key: KeyObject): { algorithm: string; hash: string } {
  const scheme = key.asymmetricKeyType === "ec" ? ECDSA[key.asymmetricKeyDetails?.namedCurve ?? ""] : undefined;
  if (scheme !== undefined) return scheme;
  if (key.asymmetricKeyType === "rsa") return RSA;
  throw new TypeError(`tokens cannot be signed with a key of type ${key.asymmetricKeyType}`);
}
