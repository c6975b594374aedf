import type { FieldError } from "../field-error.ts";
import type { PodCertificateProjection } from "../gen/types.ts";
import { checkLocalPath, checkQualifiedName } from "./names.ts";
import { invalid, invalidEach, required, tooLong, unsupported } from "./problems.ts";
import { validateSignerName } from "./signer-name.ts";

/** The kinds of keys that a pod may ask for, in the order of upstream's messages. */
const KEY_TYPES = ["ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"];
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** For how long, in seconds, a certificate of the signer may be asked for. The signers of Kubernetes itself give a day. */
export function certificateSecondsFor(signerName: string): { readonly min: number; readonly max: number } {
  const [domain = ""] = signerName.split("/");
  const isKubernetes = domain === "kubernetes.io" || domain.endsWith(".kubernetes.io");
  return { min: HOUR_SECONDS, max: isKubernetes ? DAY_SECONDS : 91 * DAY_SECONDS };
}

/** The problems of what a pod has to say to the signer: keys with a domain, and all of it together not too long. */
export function validateUserAnnotations(path: string, annotations: Record<string, string> = {}): FieldError[] {
  const entries = Object.entries(annotations);
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return [
    ...entries.flatMap(([key]) => validateAnnotationKey(path, key.toLowerCase())),
    ...(bytes > MAX_ANNOTATIONS_BYTES ? [tooLong(path, MAX_ANNOTATIONS_BYTES)] : []),
  ];
}

function validateAnnotationKey(path: string, key: string): FieldError[] {
  if (key === "") return [required(path)];
  const problems = checkQualifiedName(key);
  if (problems.length > 0 || key.includes("/")) return invalidEach(path, key, problems);
  return [invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')];
}

/** The problems of a `podCertificate` source by itself. Whether others take its paths is checked of the whole volume. */
export function validatePodCertificate(path: string, projection: PodCertificateProjection): FieldError[] {
  const { signerName, keyType, maxExpirationSeconds, userAnnotations } = projection;
  const paths = pathsOf(projection);
  const detail = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
  return [
    ...validateSignerName(`${path}.signerName`, signerName),
    ...(KEY_TYPES.includes(keyType) ? [] : [unsupported(`${path}.keyType`, keyType, KEY_TYPES)]),
    ...validateSeconds(`${path}.maxExpirationSeconds`, maxExpirationSeconds, signerName),
    ...validateUserAnnotations(`${path}.userAnnotations`, userAnnotations),
    ...(paths.length === 0 ? [required(path, detail)] : []),
    ...paths.flatMap(([field, target]) => validatePath(`${path}.${field}`, target)),
  ];
}

/** The files that the source is to be written to. */
export function podCertificatePaths(projection: PodCertificateProjection): string[] {
  return pathsOf(projection).map(([, target]) => target);
}

function pathsOf({ credentialBundlePath, keyPath, certificateChainPath }: PodCertificateProjection) {
  return Object.entries({ credentialBundlePath, keyPath, certificateChainPath }).flatMap(([field, target]) => {
    return target ? [[field, target] as const] : [];
  });
}

function validateSeconds(path: string, seconds: number | undefined, signerName: string): FieldError[] {
  if (seconds === undefined) return [];
  const { min, max } = certificateSecondsFor(signerName);
  if (seconds < min) return [invalid(path, seconds, `if provided, maxExpirationSeconds must be >= ${min}`)];
  return seconds > max ? [invalid(path, seconds, `if provided, maxExpirationSeconds must be <= ${max}`)] : [];
}

function validatePath(path: string, target: string): FieldError[] {
  const problems = checkLocalPath(target);
  if (problems.length === 0 && target.startsWith("..")) problems.push("must not start with '..'");
  return invalidEach(path, target, problems);
}
