/** The problem of one field, in kube-apiserver's words. An empty path means the whole object. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
  /** The kind of complaint, as a `metav1.Status` cause names it; undefined for what could not be decoded. */
  readonly reason?: FieldErrorReason;
}

type FieldErrorReason =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueNotFound"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTypeInvalid";

/** `spec.containers[0].name: Required value`. */
export function formatFieldError({ path, message }: FieldError): string {
  return path === "" ? message : `${path}: ${message}`;
}

/** `parent.name`, or the name alone at the top. */
export function fieldPath(parent: string, name: string): string {
  return parent === "" ? name : `${parent}.${name}`;
}

/** Longer values are cut: a person reads the message, and the path already says where to look. */
const MAX_SHOWN_LENGTH = 128;

/** Shows strings in quotes, and anything else as JSON. */
export function showValue(value: unknown): string {
  const text = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? "null");
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}
