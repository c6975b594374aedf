import type { FieldError } from "../../../api/field-error.ts";
import type { LabelSelector, LabelSelectorRequirement } from "../../../api/gen/types.ts";
import { validateLabels } from "../../../api/validation/metadata.ts";
import { checkLabelValue, checkQualifiedName } from "../../../api/validation/names.ts";
import { each, forbidden, invalid, invalidEach, required } from "../../../api/validation/problems.ts";

/** What is wrong with the selector; nothing when it is absent. */
export function validateLabelSelector(path: string, selector: LabelSelector | undefined): FieldError[] {
  return [
    ...validateLabels(`${path}.matchLabels`, selector?.matchLabels),
    ...each(`${path}.matchExpressions`, selector?.matchExpressions, validateRequirement),
  ];
}

function validateRequirement({ key, operator, values }: LabelSelectorRequirement, path: string): FieldError[] {
  return [
    ...validateOperator(path, operator, values ?? []),
    ...invalidEach(`${path}.key`, key, checkQualifiedName(key)),
    ...each(`${path}.values`, values, (value, at) => invalidEach(at, value, checkLabelValue(value))),
  ];
}

function validateOperator(path: string, operator: string, values: readonly string[]): FieldError[] {
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length > 0) return [];
      return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      if (values.length === 0) return [];
      return [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return [invalid(`${path}.operator`, operator, "not a valid selector operator")];
  }
}

/** Selects everything. */
export function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}
