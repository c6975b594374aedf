import { createHash, createPublicKey, generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { readPrivateKey } from "./signing-key.ts";

/** The key with which service account tokens are signed. */
export interface TokenKey {
  /** PKCS #8. */
  readonly privatePem: string;
  /** SubjectPublicKeyInfo. */
  readonly publicPem: string;
  /** The public key's SHA-256 in base64url, as kube-apiserver names keys in the header of a token. */
  readonly keyId: string;
}

/** A fresh key on P-256 (ES256). */
export async function createTokenKey(): Promise<TokenKey> {
  const { privateKey } = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
  return readTokenKey(privateKey.export({ format: "pem", type: "pkcs8" }).toString());
}

/** The whole key from its private half, RSA or ECDSA. Throws a PkiError `InvalidKey`. */
export function readTokenKey(privatePem: string): TokenKey {
  const publicKey = createPublicKey(readPrivateKey(privatePem));
  const der = publicKey.export({ format: "der", type: "spki" });
  return {
    privatePem,
    publicPem: publicKey.export({ format: "pem", type: "spki" }).toString(),
    keyId: createHash("sha256").update(der).digest("base64url"),
  };
}
