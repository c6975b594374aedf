import { createPublicKey, generateKeyPair, type KeyObject, sign, verify } from "node:crypto";
import { promisify } from "node:util";
import { messageOf } from "../base/errors.ts";
import { DER_TAGS, joinDer, splitDer, splitElement } from "./der.ts";
import { PkiError } from "./pki-error.ts";

/** The kinds of keys that pods may have certificates for, by the names that pods use (`podCertificate.keyType`). */
export const STUB_KEY_TYPES = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"] as const;

export type StubKeyType = (typeof STUB_KEY_TYPES)[number];

/** A PKCS #10 request that says nothing but a public key, and the private key that signed it. */
export interface StubRequest {
  /** The request in DER. */
  readonly request: Buffer;
  /** PKCS #8 as PEM. */
  readonly keyPem: string;
}

/** What a stub request says, and whether its own key signed it. */
interface StubRequestFacts {
  readonly publicKey: KeyObject;
  readonly isSignatureValid: boolean;
}

/** A way to sign: the content of its AlgorithmIdentifier as hexadecimal digits, and the hash, which Ed25519 has none of. */
interface SignatureAlgorithm {
  readonly identifier: string;
  readonly hash: "sha256" | "sha384" | "sha512" | null;
  readonly keyKind: "rsa" | "ec" | "ed25519";
}

const RSA_SHA256 = rsa("0b", "sha256");
const ECDSA_SHA256 = ecdsa("02", "sha256");
const ECDSA_SHA384 = ecdsa("03", "sha384");
const ECDSA_SHA512 = ecdsa("04", "sha512");
const ED25519: SignatureAlgorithm = { identifier: "06032b6570", hash: null, keyKind: "ed25519" };

/** All algorithms with which a request may be signed. Those with weak hashes are not among them. */
const ALGORITHMS = [
  RSA_SHA256,
  rsa("0c", "sha384"),
  rsa("0d", "sha512"),
  ECDSA_SHA256,
  ECDSA_SHA384,
  ECDSA_SHA512,
  ED25519,
];

const SIGNED_BY: Readonly<Record<StubKeyType, SignatureAlgorithm>> = {
  RSA3072: RSA_SHA256,
  RSA4096: RSA_SHA256,
  ECDSAP256: ECDSA_SHA256,
  ECDSAP384: ECDSA_SHA384,
  ECDSAP521: ECDSA_SHA512,
  ED25519,
};

function rsa(lastOctet: string, hash: SignatureAlgorithm["hash"]): SignatureAlgorithm {
  return { identifier: `06092a864886f70d0101${lastOctet}0500`, hash, keyKind: "rsa" };
}

function ecdsa(lastOctet: string, hash: SignatureAlgorithm["hash"]): SignatureAlgorithm {
  return { identifier: `06082a8648ce3d0403${lastOctet}`, hash, keyKind: "ec" };
}

const BIT_STRING = 0x03;
const ATTRIBUTES = 0xa0;
const NOTHING = Buffer.alloc(0);

/** True for a key type that pods may name. */
export function isStubKeyType(text: string): text is StubKeyType {
  return STUB_KEY_TYPES.some((type) => type === text);
}

/**
 * Makes a fresh key of the type, and a request that it signed: without a subject, names or attributes, in the bytes that
 * Go's `x509.CreateCertificateRequest` makes of an empty template. RSA keys take seconds of a thread of the pool.
 */
export async function createStubRequest(type: StubKeyType): Promise<StubRequest> {
  const { privateKey, publicKey } = await generateKeys(type);
  const algorithm = SIGNED_BY[type];
  const info = joinDer(DER_TAGS.sequence, [
    joinDer(DER_TAGS.integer, [Buffer.of(0)]),
    joinDer(DER_TAGS.sequence, [NOTHING]),
    publicKey.export({ format: "der", type: "spki" }),
    joinDer(ATTRIBUTES, [NOTHING]),
  ]);
  const signature = sign(algorithm.hash, info, privateKey);
  const request = joinDer(DER_TAGS.sequence, [
    info,
    joinDer(DER_TAGS.sequence, [Buffer.from(algorithm.identifier, "hex")]),
    joinDer(BIT_STRING, [Buffer.of(0), signature]),
  ]);
  return { request, keyPem: privateKey.export({ format: "pem", type: "pkcs8" }).toString() };
}

const generate = promisify(generateKeyPair);

async function generateKeys(type: StubKeyType): Promise<{ privateKey: KeyObject; publicKey: KeyObject }> {
  switch (type) {
    case "RSA3072":
      return await generate("rsa", { modulusLength: 3072 });
    case "RSA4096":
      return await generate("rsa", { modulusLength: 4096 });
    case "ECDSAP256":
      return await generate("ec", { namedCurve: "P-256" });
    case "ECDSAP384":
      return await generate("ec", { namedCurve: "P-384" });
    case "ECDSAP521":
      return await generate("ec", { namedCurve: "P-521" });
    case "ED25519":
      return await generate("ed25519");
  }
}

/**
 * Reads a request in DER, whatever it asks for, without waiting. Throws a PkiError `InvalidRequest`. A signature that does
 * not hold is a fact, not an error.
 */
export function readStubRequest(der: Uint8Array): StubRequestFacts {
  try {
    const [whole, ...more] = splitDer(der);
    if (more.length > 0) throw new RangeError("something follows the request");
    const [info, algorithm, signature] = splitElement(whole, DER_TAGS.sequence);
    const [version, , key] = splitElement(info, DER_TAGS.sequence);
    if (version?.tag !== DER_TAGS.integer || key?.tag !== DER_TAGS.sequence) throw new RangeError("it has no key");
    if (algorithm?.tag !== DER_TAGS.sequence || signature?.tag !== BIT_STRING) throw new RangeError("it is not signed");
    const spki = joinDer(key.tag, [key.content]);
    const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
    const signed = joinDer(DER_TAGS.sequence, [info?.content ?? NOTHING]);
    const identifier = Buffer.from(algorithm.content).toString("hex");
    const isSignatureValid = isSignedBy(publicKey, { identifier, signed, signature: signature.content });
    return { publicKey, isSignatureValid };
  } catch (error) {
    throw new PkiError("InvalidRequest", `not a certificate request: ${messageOf(error)}`, { cause: error });
  }
}

interface Signed {
  readonly identifier: string;
  readonly signed: Uint8Array;
  /** The content of a bit string, whose first octet counts the unused bits. */
  readonly signature: Uint8Array;
}

function isSignedBy(publicKey: KeyObject, { identifier, signed, signature }: Signed): boolean {
  const algorithm = ALGORITHMS.find((each) => each.identifier === identifier);
  if (algorithm === undefined || algorithm.keyKind !== publicKey.asymmetricKeyType || signature[0] !== 0) return false;
  return verify(algorithm.hash, signed, publicKey, signature.subarray(1));
}
