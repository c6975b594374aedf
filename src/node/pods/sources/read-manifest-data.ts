import { isDeepStrictEqual } from "node:util";
import { decodeObject } from "../../../api/decode.ts";
import { type FieldError, formatFieldError } from "../../../api/field-error.ts";
import type { ConfigMap, ObjectMeta, Secret } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import { defaultSecretData, validateConfigMapData, validateSecretData } from "../../../api/validation/data-objects.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { validateObjectMeta } from "../../../api/validation/object-meta.ts";
import { indexObjects, keyOfManifestObject, type ManifestObject } from "../../cluster/refs/manifest-objects.ts";

/** What a document of a config map or a secret holds; the object is absent exactly when there are errors. */
interface DataDocument {
  readonly object?: ManifestObject;
  readonly errors: string[];
  readonly warnings: string[];
}

/** Says why such an object is refused where it is not taken. */
export const DATA_REFUSAL =
  "config maps and secrets beside static pods are for a node without an API server, and from --pod-manifest-path";

/** True for an object of a kind that pods read from manifests. */
export function isDataObject({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === "v1" && (kind === "ConfigMap" || kind === "Secret");
}

/**
 * Reads, defaults and validates a config map or a secret as an API server would. `origin` says where it stands, `path`
 * where in its document. No message shows the value of a secret.
 */
export function readDataObject(value: KubeObject, origin: string, path: string): DataDocument {
  const decoded = value.kind === "Secret" ? readSecret(value) : readConfigMap(value);
  const place = (problem: FieldError) =>
    formatFieldError({ ...problem, path: [path, problem.path].filter((part) => part !== "").join(".") });
  const warnings = decoded.warnings.map(place);
  if (!("read" in decoded)) return { errors: decoded.errors.map(place), warnings };
  return { object: { origin, ...decoded.read }, errors: [], warnings };
}

type Read =
  | {
      readonly read: { kind: "ConfigMap"; object: ConfigMap } | { kind: "Secret"; object: Secret };
      warnings: FieldError[];
    }
  | { readonly errors: FieldError[]; readonly warnings: FieldError[] };

function readConfigMap(value: KubeObject): Read {
  const { value: decoded, errors: unreadable, warnings } = decodeObject("ConfigMap", value);
  if (decoded === undefined) return { errors: unreadable, warnings };
  const object = { ...decoded, metadata: placeInNamespace(decoded.metadata) };
  const errors = [...validateMetadata(object.metadata), ...validateConfigMapData(object)];
  return errors.length > 0 ? { errors, warnings } : { read: { kind: "ConfigMap", object }, warnings };
}

function readSecret(value: KubeObject): Read {
  const { value: decoded, errors: unreadable, warnings } = decodeObject("Secret", value);
  if (decoded === undefined) return { errors: unreadable.map(withoutValue), warnings };
  const object = defaultSecretData({ ...decoded, metadata: placeInNamespace(decoded.metadata) });
  const errors = [...validateMetadata(object.metadata ?? {}), ...validateSecretData(object)];
  return errors.length > 0 ? { errors, warnings } : { read: { kind: "Secret", object }, warnings };
}

/** The decoder shows what it found; what a secret holds must not come into the log. */
function withoutValue({ path, message }: FieldError): FieldError {
  return { path, message: message.replace(/, got .*$/s, "; what is there is not shown") };
}

function placeInNamespace(metadata: ObjectMeta = {}): ObjectMeta {
  return { ...metadata, namespace: metadata.namespace || "default" };
}

function validateMetadata(metadata: ObjectMeta): FieldError[] {
  return validateObjectMeta(metadata, { namespaced: true, checkName: checkDnsSubdomain });
}

/**
 * The objects that a file gives after it was read. Where something in it is refused, those stay that it gave before and
 * no longer does: each may be the one that is refused. Objects that did not change are the same values as before.
 */
export function keepLastObjects(
  before: readonly ManifestObject[],
  { objects, errors }: { readonly objects: readonly ManifestObject[]; readonly errors: readonly string[] },
): ManifestObject[] {
  const earlier = indexObjects(before);
  const now = indexObjects(objects);
  const current = objects.map((entry) => {
    const same = earlier.get(keyOfManifestObject(entry));
    return same !== undefined && isDeepStrictEqual(same, entry) ? same : entry;
  });
  if (errors.length === 0) return current;
  return [...current, ...[...earlier].flatMap(([key, entry]) => (now.has(key) ? [] : [entry]))];
}
