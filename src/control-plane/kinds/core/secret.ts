import type { FieldError } from "../../../api/field-error.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { defaultSecretData, validateSecretData } from "../../../api/validation/data-objects.ts";
import { defineKind } from "../define-kind.ts";
import { immutable, validateSealed } from "../rules/immutable.ts";

/** Secrets. */
export const secretKind = defineKind({
  kind: "Secret",
  plural: "secrets",
  strategy: {
    default: defaultSecret,
    validate: validateSecret,
    validateUpdate,
    warnings: secretWarnings,
    fields: { type: (object) => typed("Secret", object).type ?? "" },
  },
});

function defaultSecret(object: KubeObject): KubeObject {
  return untyped(defaultSecretData(typed("Secret", object)));
}

function validateSecret(object: KubeObject): FieldError[] {
  return validateSecretData(typed("Secret", object));
}

function validateUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  const secret = typed("Secret", next);
  const old = typed("Secret", current);
  return [...immutable("type", secret.type, old.type), ...validateSealed(secret, old, ["data"])];
}

/**
 * The warnings about a pair of keys that no server could use. It is stored all the same, because the second half may
 * follow.
 */
function secretWarnings(object: KubeObject): string[] {
  const { type, data = {} } = typed("Secret", object);
  if (type !== "kubernetes.io/tls") return [];
  const inputs = { "tls.crt": "certificate", "tls.key": "key" };
  const missing = Object.entries(inputs).find(([key]) => !isPem(data[key] ?? ""));
  return missing === undefined ? [] : [`tls: failed to find any PEM data in ${missing[1]} input`];
}

const isPem = (base64: string) => Buffer.from(base64, "base64").includes("-----BEGIN ");
