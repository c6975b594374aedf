import type { FieldError } from "../../../api/field-error.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { validateConfigMapData } from "../../../api/validation/data-objects.ts";
import { defineKind } from "../define-kind.ts";
import { validateSealed } from "../rules/immutable.ts";

/** Config maps. */
export const configMapKind = defineKind({
  kind: "ConfigMap",
  plural: "configmaps",
  shortNames: ["cm"],
  strategy: { validate: validateConfigMap, validateUpdate, createsOnUpdate: false },
});

function validateConfigMap(object: KubeObject): FieldError[] {
  return validateConfigMapData(typed("ConfigMap", object));
}

function validateUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  return validateSealed(typed("ConfigMap", next), typed("ConfigMap", current), ["data", "binaryData"]);
}
