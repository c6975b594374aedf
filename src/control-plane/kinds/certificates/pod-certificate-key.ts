import { constants, createPublicKey, type KeyObject, verify } from "node:crypto";
import type { FieldError } from "../../../api/field-error.ts";
import type { PodCertificateRequestSpec } from "../../../api/gen/types.ts";
import { invalid, tooLong } from "../../../api/validation/problems.ts";
import { readStubRequest } from "../../../pki/stub-request.ts";

const STUB = "spec.stubPKCS10Request";
const KEY = "spec.pkixPublicKey";
const PROOF = "spec.proofOfPossession";
const MAX_BYTES = 10 * 1024;
/** The curves by the names that OpenSSL has for them. */
const CURVES = ["prime256v1", "secp384r1", "secp521r1"];
const RSA_BITS = [3072, 4096];

type KeySpec = Pick<PodCertificateRequestSpec, "pkixPublicKey" | "podUID" | "proofOfPossession" | "stubPKCS10Request">;

/**
 * The problems of the key that a request is for. The request proves that its author has the private key: by the signature
 * of a PKCS #10 request, or, as kubelets before 1.36 do, by a signature of the pod's UID.
 */
export function validateRequestedKey(spec: KeySpec): FieldError[] {
  const { stubPKCS10Request: stub = "", pkixPublicKey: key = "", proofOfPossession: proof = "" } = spec;
  const tooLongFields = Object.entries({ [STUB]: stub, [KEY]: key, [PROOF]: proof }).flatMap(([path, base64]) => {
    return bytesOf(base64).length > MAX_BYTES ? [tooLong(path, MAX_BYTES)] : [];
  });
  if (tooLongFields.length > 0) return tooLongFields;
  if (stub !== "" && key === "" && proof === "") return validateStub(stub);
  if (stub === "" && key !== "" && proof !== "") return validateProof({ key, proof, podUid: spec.podUID });
  const detail = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
  return [invalid("spec", "<value omitted>", detail)];
}

/** The public key that a valid request is for; undefined where it cannot be read. */
export function readRequestedKey({ stubPKCS10Request: stub = "", pkixPublicKey = "" }: KeySpec): KeyObject | undefined {
  try {
    return stub === "" ? readPublicKey(pkixPublicKey) : readStubRequest(bytesOf(stub)).publicKey;
  } catch {
    return undefined;
  }
}

function validateStub(stub: string): FieldError[] {
  const shown = "<value omitted>";
  try {
    const { publicKey, isSignatureValid } = readStubRequest(bytesOf(stub));
    const errors = validateKeyType(STUB, publicKey);
    if (errors.length > 0 || isSignatureValid) return errors;
    return [invalid(STUB, shown, "the signature of the PKCS#10 CSR could not be verified")];
  } catch {
    return [invalid(STUB, shown, "must be a valid PKCS#10 CSR")];
  }
}

function validateProof({ key, proof, podUid }: { key: string; proof: string; podUid: string }): FieldError[] {
  let publicKey: KeyObject;
  try {
    publicKey = readPublicKey(key);
  } catch {
    return [invalid(KEY, key, "must be a valid PKIX-serialized public key")];
  }
  const errors = validateKeyType(KEY, publicKey);
  if (errors.length > 0 || isProof(publicKey, Buffer.from(podUid), bytesOf(proof))) return errors;
  return [invalid(PROOF, "<value omitted>", "could not verify proof-of-possession signature")];
}

/** RSA keys sign by PSS with a salt of any length, and keys on curves in the form of ASN.1. */
function isProof(publicKey: KeyObject, signed: Buffer, proof: Buffer): boolean {
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_AUTO: saltLength } = constants;
  if (publicKey.asymmetricKeyType === "ed25519") return verify(null, signed, publicKey, proof);
  if (publicKey.asymmetricKeyType === "ec") return verify("sha256", signed, publicKey, proof);
  return verify("sha256", signed, { key: publicKey, padding, saltLength }, proof);
}

function validateKeyType(path: string, { asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): FieldError[] {
  const { namedCurve = "", modulusLength = 0 } = asymmetricKeyDetails;
  switch (asymmetricKeyType) {
    case "ed25519":
      return [];
    case "ec":
      if (CURVES.includes(namedCurve)) return [];
      return [invalid(path, `curve ${namedCurve}`, "elliptic public keys must use curve P256, P384, or P521")];
    case "rsa":
      if (RSA_BITS.includes(modulusLength)) return [];
      return [invalid(path, `${modulusLength}-bit modulus`, "RSA keys must have modulus size 3072 or 4096")];
    default:
      return [invalid(path, "<value omitted>", "unknown public key type; supported types are Ed25519, ECDSA, and RSA")];
  }
}

function readPublicKey(base64: string): KeyObject {
  return createPublicKey({ key: bytesOf(base64), format: "der", type: "spki" });
}

const bytesOf = (base64: string) => Buffer.from(base64, "base64");
