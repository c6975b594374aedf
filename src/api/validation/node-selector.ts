import type { FieldError } from "../field-error.ts";
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from "../gen/types.ts";
import { validateSetOperator } from "./label-selector.ts";
import { checkDnsSubdomain, checkLabelValue, checkQualifiedName } from "./names.ts";
import { each, invalid, invalidEach, required } from "./problems.ts";

/**
 * Says whether values that no label can have are allowed. They are refused where nodes are chosen, and not where nodes
 * are preferred.
 */
interface ValueRule {
  readonly allowsAnyValue: boolean;
}

/** Validates the terms of a node selector; it needs at least one term. */
export function validateNodeSelector(path: string, { nodeSelectorTerms }: NodeSelector, rule: ValueRule): FieldError[] {
  const at = `${path}.nodeSelectorTerms`;
  if (nodeSelectorTerms.length === 0) return [required(at, "must have at least one node selector term")];
  return each(at, nodeSelectorTerms, (term, place) => validateNodeSelectorTerm(place, term, rule));
}

/** Validates conditions on a node's labels and fields. */
export function validateNodeSelectorTerm(path: string, term: NodeSelectorTerm, rule: ValueRule): FieldError[] {
  const { matchExpressions, matchFields } = term;
  return [
    ...each(`${path}.matchExpressions`, matchExpressions, (requirement, at) => validateLabel(at, requirement, rule)),
    ...each(`${path}.matchFields`, matchFields, (requirement, at) => validateField(at, requirement)),
  ];
}

function validateLabel(
  path: string,
  { key, operator, values = [] }: NodeSelectorRequirement,
  { allowsAnyValue }: ValueRule,
): FieldError[] {
  return [
    ...validateOperator(path, operator, values),
    ...invalidEach(`${path}.key`, key, checkQualifiedName(key)),
    ...(allowsAnyValue
      ? []
      : each(`${path}.values`, values, (value, at) => invalidEach(at, value, checkLabelValue(value)))),
  ];
}

function validateOperator(path: string, operator: string, values: readonly string[]): FieldError[] {
  if (operator !== "Gt" && operator !== "Lt") return validateSetOperator(path, operator, values);
  if (values.length === 1) return [];
  return [required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
}

function validateField(path: string, { key, operator, values = [] }: NodeSelectorRequirement): FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== "In" && operator !== "NotIn") {
    errors.push(invalid(`${path}.operator`, operator, "not a valid selector operator"));
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(`${path}.values`, detail));
  }
  if (key !== "metadata.name") return [...errors, invalid(`${path}.key`, key, "not a valid field selector key")];
  return [...errors, ...each(`${path}.values`, values, (name, at) => invalidEach(at, name, checkDnsSubdomain(name)))];
}
