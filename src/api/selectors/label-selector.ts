import { badRequestError } from "../api-error.ts";
import { showValue } from "../field-error.ts";
import type * as types from "../gen/types.ts";
import { checkLabelValue, checkQualifiedName } from "../validation/names.ts";
import { type LabelOperator, type LabelRequirement, parseRequirements } from "./label-selector-grammar.ts";

/** Selects objects by their labels. All requirements must hold. */
export interface LabelSelector {
  /** The requirements are sorted by key, and their values are sorted. Empty for everything, and for nothing. */
  readonly requirements: readonly LabelRequirement[];
  readonly isEverything: boolean;
  matches(labels: Labels | undefined): boolean;
  /** The text is canonical: it parses to an equal selector. Empty for everything, and for nothing. */
  toString(): string;
}

type Labels = Readonly<Record<string, string>>;

const NOTHING: LabelSelector = {
  requirements: [],
  isEverything: false,
  matches: () => false,
  toString: () => "",
};

/** Reads a query's `labelSelector`; empty means everything. Throws BadRequest in upstream's words. */
export function parseLabelSelector(text: string): LabelSelector {
  return selectorOf(parseRequirements(text, checkRequirement));
}

/**
 * Reads the selector of an object's field: undefined matches nothing, an empty one everything. Throws BadRequest for a
 * selector that validation would have refused.
 */
export function labelSelectorOf(selector: types.LabelSelector | undefined): LabelSelector {
  if (selector === undefined) return NOTHING;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const requirements = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "=" as const, values: [value] })),
    ...matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator: operatorOf(operator), values })),
  ];
  for (const requirement of requirements) {
    const problem = checkRequirement(requirement);
    if (problem !== undefined) throw badRequestError(problem);
  }
  return selectorOf(requirements);
}

function operatorOf(operator: string): LabelOperator {
  const known = EXPRESSION_OPERATORS.get(operator);
  if (known === undefined) throw badRequestError(`${JSON.stringify(operator)} is not a valid label selector operator`);
  return known;
}

const EXPRESSION_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

function selectorOf(parsed: readonly LabelRequirement[]): LabelSelector {
  const requirements: LabelRequirement[] = parsed
    .map(({ key, operator, values }) => ({ key, operator, values: values.toSorted() }))
    .sort((left, right) => compare(left.key, right.key));
  return {
    requirements,
    isEverything: requirements.length === 0,
    matches: (labels) => requirements.every((requirement) => holds(requirement, labels)),
    toString: () => requirements.map(formatRequirement).join(","),
  };
}

/** Compares by code unit and not by locale, so that the canonical form is the same everywhere. */
function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function holds({ key, operator, values }: LabelRequirement, labels: Labels = {}): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return value !== undefined && values.includes(value);
    case "!=":
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
    case "lt":
      return value !== undefined && isOrdered(operator, value, values[0] ?? "");
  }
}

function isOrdered(operator: "gt" | "lt", value: string, bound: string): boolean {
  const [left, right] = [parseInt64(value), parseInt64(bound)];
  if (left === undefined || right === undefined) return false;
  return operator === "gt" ? left > right : left < right;
}

const MAX_INT64 = 2n ** 63n - 1n;

function parseInt64(text: string): bigint | undefined {
  // Nineteen digits hold every 64-bit integer; no label has leading zeros beyond them.
  if (!/^[+-]?\d{1,63}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value;
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${values.join(",")})`;
    case "gt":
      return `${key}>${values.join(",")}`;
    case "lt":
      return `${key}<${values.join(",")}`;
    default:
      return `${key}${operator}${values.join(",")}`;
  }
}

/** Returns what is wrong with a requirement, in the words of upstream's `NewRequirement`; undefined when nothing is. */
function checkRequirement({ key, operator, values }: LabelRequirement): string | undefined {
  const problems = checkQualifiedName(key);
  const errors = problems.length > 0 ? [`key: Invalid value: ${JSON.stringify(key)}: ${problems.join("; ")}`] : [];
  const arity = checkArity(operator, values);
  if (arity !== undefined) errors.push(`values: Invalid value: ${showValue(values)}: ${arity}`);
  const isNumeric = operator === "gt" || operator === "lt";
  for (const [index, value] of values.entries()) {
    if (isNumeric && parseInt64(value) === undefined) {
      const rule = "for 'Gt', 'Lt' operators, the value must be an integer";
      errors.push(`values[${index}]: Invalid value: ${JSON.stringify(value)}: ${rule}`);
    }
  }
  for (const [index, value] of values.entries()) {
    const wrong = checkLabelValue(value);
    if (wrong.length === 0) continue;
    errors.push(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${wrong.join("; ")}`);
  }
  if (errors.length <= 1) return errors[0];
  return `[${[...new Set(errors)].join(", ")}]`;
}

function checkArity(operator: LabelOperator, { length }: readonly string[]): string | undefined {
  switch (operator) {
    case "in":
    case "notin":
      return length === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case "exists":
    case "!":
      return length === 0 ? undefined : "values set must be empty for exists and does not exist";
    case "gt":
    case "lt":
      return length === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
    default:
      return length === 1 ? undefined : "exact-match compatibility requires one single value";
  }
}
