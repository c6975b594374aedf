import type { FieldError } from "../field-error.ts";
import type { LabelSelector, LabelSelectorRequirement } from "../gen/types.ts";
import { validateLabels } from "./metadata.ts";
import { checkLabelValue, checkQualifiedName } from "./names.ts";
import { each, forbidden, invalid, invalidEach, required } from "./problems.ts";

/** Returns what is wrong with the selector; nothing when it is absent. */
export function validateLabelSelector(path: string, selector: LabelSelector | undefined): FieldError[] {
  return [
    ...validateLabels(`${path}.matchLabels`, selector?.matchLabels),
    ...each(`${path}.matchExpressions`, selector?.matchExpressions, validateRequirement),
  ];
}

function validateRequirement({ key, operator, values }: LabelSelectorRequirement, path: string): FieldError[] {
  return [
    ...validateSetOperator(path, operator, values ?? []),
    ...invalidEach(`${path}.key`, key, checkQualifiedName(key)),
    ...each(`${path}.values`, values, (value, at) => invalidEach(at, value, checkLabelValue(value))),
  ];
}

/** Validates that the operator is one of those of sets, and has as many values as it takes. */
export function validateSetOperator(path: string, operator: string, values: readonly string[]): FieldError[] {
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

/** A selector with `matchLabelKeys` and `mismatchLabelKeys`, by which a pod's labels become part of the selector. */
interface SelectorLabelKeys {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/**
 * Validates keys of labels that are added to a selector. The registry has added them by now, so a key that the author's
 * own selector has too is there twice.
 */
export function validateSelectorLabelKeys(path: string, term: SelectorLabelKeys): FieldError[] {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const errors = Object.entries({ matchLabelKeys, mismatchLabelKeys }).flatMap(([field, keys]) => {
    const at = `${path}.${field}`;
    if (keys.length === 0) return [];
    if (!labelSelector) return [forbidden(at, "must not be specified when labelSelector is not set")];
    return each(at, keys, (key, place) => invalidEach(place, key, checkQualifiedName(key)));
  });
  const seen = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const index = matchLabelKeys.lastIndexOf(key);
    const isTwice = index !== -1 && seen.has(key);
    if (isTwice) errors.push(invalid(`${path}[${index}]`, key, "exists in both matchLabelKeys and labelSelector"));
    seen.add(key);
  }
  for (const [index, key] of matchLabelKeys.entries()) {
    if (!mismatchLabelKeys.includes(key)) continue;
    const detail = "exists in both matchLabelKeys and mismatchLabelKeys";
    errors.push(invalid(`${path}.matchLabelKeys[${index}]`, key, detail));
  }
  return errors;
}
