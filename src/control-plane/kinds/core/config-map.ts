import type { FieldError } from "../../../api/field-error.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { checkConfigMapKey } from "../../../api/validation/names.ts";
import { invalid, invalidEach, tooLong } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { validateSealed } from "../rules/immutable.ts";

/** The most bytes of all values of a secret or config map together. */
export const MAX_DATA_BYTES = 1024 * 1024;

/** Config maps. */
export const configMapKind = defineKind({
  kind: "ConfigMap",
  plural: "configmaps",
  shortNames: ["cm"],
  strategy: { validate: validateConfigMap, validateUpdate, createsOnUpdate: false },
});

function validateConfigMap(object: KubeObject): FieldError[] {
  const { data = {}, binaryData = {} } = typed("ConfigMap", object);
  const errors = Object.keys(data).flatMap((key) => [
    ...invalidEach(`data[${key}]`, key, checkConfigMapKey(key)),
    ...(Object.hasOwn(binaryData, key) ? [invalid(`data[${key}]`, key, "duplicate of key present in binaryData")] : []),
  ]);
  for (const key of Object.keys(binaryData)) {
    errors.push(...invalidEach(`binaryData[${key}]`, key, checkConfigMapKey(key)));
  }
  const texts = Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return texts + sumOfBytes(binaryData) > MAX_DATA_BYTES ? [...errors, tooLong("", MAX_DATA_BYTES)] : errors;
}

/** The number of bytes for which the base64 of the values stands. */
export function sumOfBytes(data: Readonly<Record<string, string>>): number {
  return Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text, "base64"), 0);
}

function validateUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  return validateSealed(typed("ConfigMap", next), typed("ConfigMap", current), ["data", "binaryData"]);
}
