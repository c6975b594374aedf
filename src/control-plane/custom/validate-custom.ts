import type { FieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ScalePaths } from "../ports/resource-kind.ts";
import { validateEmbeddedObjects } from "./embedded-objects.ts";
import { validateListItems } from "./list-items.ts";
import { validateReplicas } from "./scale.ts";
import { propertyOf, type Schema } from "./schema-props.ts";
import { validateValue } from "./validate-value.ts";

/** The checks of an object that follow from its definition. */
interface CustomValidation {
  /** Checks all of the object; `current` is the one that it replaces. */
  validate(next: KubeObject, current?: KubeObject): FieldError[];
  /** Checks what an update of the status may change. */
  validateStatus(next: KubeObject, current: KubeObject): FieldError[];
}

/**
 * Creates the checks. What an update leaves as it is passes, also where it was stored by a milder schema (upstream:
 * `pkg/registry/customresource/strategy.go`, `status_strategy.go`).
 */
export function createCustomValidation(schema: Schema, scale: ScalePaths | undefined): CustomValidation {
  const statusSchema = propertyOf(schema, "status");
  const checkLists = (next: KubeObject, current: KubeObject | undefined) => {
    const errors = validateListItems(schema, next);
    const isOld = errors.length > 0 && current !== undefined && validateListItems(schema, current).length > 0;
    return isOld ? [] : errors;
  };
  return {
    validate: (next, current) => [
      ...validateValue(schema, next, "", current),
      ...validateEmbeddedObjects(schema, next),
      ...checkLists(next, current),
      ...(scale ? validateReplicas(next, [scale.specReplicas, scale.statusReplicas]) : []),
    ],
    validateStatus: (next, current) => [
      ...(statusSchema && Object.hasOwn(next, "status")
        ? validateValue(statusSchema, next["status"], "status", current["status"])
        : []),
      ...checkLists(next, current),
      ...(scale ? validateReplicas(next, [scale.statusReplicas]) : []),
    ],
  };
}
