import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto";

/** A key in the form that `createTokenIssuer` takes. */
export function tokenKey(type: "ec" | "rsa" = "ec"): { privatePem: string; publicPem: string; keyId: string } {
  const pair =
    type === "ec"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privatePem = pair.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  const publicPem = createPublicKey(privatePem).export({ format: "pem", type: "spki" }).toString();
  return { privatePem, publicPem, keyId: createHash("sha256").update(publicPem).digest("base64url") };
}
