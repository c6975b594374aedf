import type { FieldError } from "../field-error.ts";
import type { Pod } from "../gen/types.ts";
import { checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName } from "./names.ts";
import { invalid, invalidEach, required, tooLong } from "./problems.ts";

const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** Name, namespace, UID, labels and annotations. */
export function validateMetadata({
  name = "",
  namespace = "",
  uid,
  labels,
  annotations,
}: NonNullable<Pod["metadata"]>): FieldError[] {
  return [
    ...(name === "" ? [required("metadata.name", "name or generateName is required")] : []),
    ...(name === "" ? [] : invalidEach("metadata.name", name, checkDnsSubdomain(name))),
    ...(namespace === "" ? [required("metadata.namespace")] : []),
    ...(namespace === "" ? [] : invalidEach("metadata.namespace", namespace, checkDnsLabel(namespace))),
    ...validateUid(uid),
    ...validateLabels("metadata.labels", labels),
    ...validateAnnotations("metadata.annotations", annotations),
  ];
}

/** Upstream trusts the UID, but here a manifest may set it and it names directories. */
function validateUid(uid: string | undefined): FieldError[] {
  if (uid === undefined || uid === "" || /^[A-Za-z0-9][-A-Za-z0-9_.]{0,127}$/.test(uid)) return [];
  const rule =
    "must consist of at most 128 alphanumeric characters, '-', '_' or '.', and must start with an alphanumeric character";
  return [invalid("metadata.uid", uid, rule)];
}

/** Validates labels, and also node selectors, which are labels to match. */
export function validateLabels(path: string, labels: Record<string, string> | undefined): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...invalidEach(path, key, checkQualifiedName(key)),
    ...invalidEach(path, value, checkLabelValue(value)),
  ]);
}

/** Validates keys in any case, and the size of all annotations together. */
export function validateAnnotations(path: string, annotations: Record<string, string> | undefined): FieldError[] {
  const entries = Object.entries(annotations ?? {});
  const errors = entries.flatMap(([key]) => invalidEach(path, key, checkQualifiedName(key.toLowerCase())));
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return bytes > MAX_ANNOTATIONS_BYTES ? [...errors, tooLong(path, MAX_ANNOTATIONS_BYTES)] : errors;
}
