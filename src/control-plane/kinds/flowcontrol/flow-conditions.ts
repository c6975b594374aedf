import type { FieldError } from "../../../api/field-error.ts";
import { duplicate, each, required } from "../../../api/validation/problems.ts";

/** The problems of the conditions of a status: each has a type of its own. */
export function validateFlowConditions(conditions: Array<{ type?: string }> | undefined): FieldError[] {
  const seen = new Set<string>();
  return each("status.conditions", conditions, ({ type = "" }, path) => {
    const errors = seen.has(type) ? [duplicate(`${path}.type`, type)] : [];
    seen.add(type);
    return type === "" ? [...errors, required(`${path}.type`)] : errors;
  });
}
