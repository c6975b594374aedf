import type { FieldError } from "../../../api/field-error.ts";
import { showValue } from "../../../api/field-error.ts";
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
} from "../../../api/gen/types.ts";
import { checkQualifiedName } from "../../../api/validation/names.ts";
import {
  duplicate,
  each,
  invalid,
  invalidEach,
  required,
  tooMany,
  unsupported,
} from "../../../api/validation/problems.ts";

const MAX_RULES = 20;
const MAX_CONDITIONS = 20;
const MAX_EXIT_CODES = 255;

/** The problems of a job's pod failure policy. */
export function validatePodFailurePolicy(path: string, spec: JobSpec): FieldError[] {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const errors = rules.length > MAX_RULES ? [tooMany(`${path}.rules`, rules.length, MAX_RULES)] : [];
  return [...errors, ...each(`${path}.rules`, rules, (rule, at) => validateRule(at, rule, spec))];
}

/** The problems of a value of a fixed set without a default. For a missing value the message lists the set. */
function choice(path: string, value: string | undefined, values: readonly string[]): FieldError[] {
  const sorted = values.toSorted();
  if (value === undefined || value === "")
    return [required(path, `valid values: [${sorted.map(showValue).join(" ")}]`)];
  return values.includes(value) ? [] : [unsupported(path, value, sorted)];
}

function validateRule(path: string, rule: PodFailurePolicyRule, spec: JobSpec): FieldError[] {
  const { action, onExitCodes, onPodConditions = [] } = rule;
  const errors = choice(`${path}.action`, action, ["Count", "FailIndex", "FailJob", "Ignore"]);
  if (action === "FailIndex" && spec.backoffLimitPerIndex === undefined) {
    errors.push(invalid(`${path}.action`, action, "requires the backoffLimitPerIndex to be set"));
  }
  if (onExitCodes) errors.push(...validateExitCodes(`${path}.onExitCodes`, onExitCodes, spec));
  errors.push(...validateConditions(`${path}.onPodConditions`, onPodConditions));
  const given = Number(onExitCodes !== undefined) + Number(onPodConditions.length > 0);
  if (given === 1) return errors;
  const detail =
    given === 2
      ? "specifying both OnExitCodes and OnPodConditions is not supported"
      : "specifying one of OnExitCodes and OnPodConditions is required";
  // The rule as a whole is wrong, so the message shows no single value.
  return [...errors, { path, reason: "FieldValueInvalid", message: `Invalid value: ${detail}` }];
}

function validateExitCodes(
  path: string,
  { operator, containerName, values }: PodFailurePolicyOnExitCodesRequirement,
  { template }: JobSpec,
): FieldError[] {
  const { containers = [], initContainers = [] } = template.spec ?? {};
  const errors = choice(`${path}.operator`, operator, ["In", "NotIn"]);
  if (containerName !== undefined && ![...containers, ...initContainers].some(({ name }) => name === containerName)) {
    const detail = "must be one of the container or initContainer names in the pod template";
    errors.push(invalid(`${path}.containerName`, containerName, detail));
  }
  if (values.length === 0) errors.push(invalid(`${path}.values`, values, "at least one value is required"));
  if (values.length > MAX_EXIT_CODES) errors.push(tooMany(`${path}.values`, values.length, MAX_EXIT_CODES));
  for (const [index, value] of values.entries()) {
    const at = `${path}.values[${index}]`;
    if (operator === "In" && value === 0) errors.push(invalid(at, value, "must not be 0 for the In operator"));
    if (values.indexOf(value) < index) errors.push(duplicate(at, value));
  }
  const isOrdered = values.every((value, index) => index === 0 || value >= (values[index - 1] ?? value));
  return isOrdered ? errors : [...errors, invalid(`${path}.values`, values, "must be ordered")];
}

function validateConditions(path: string, patterns: readonly PodFailurePolicyOnPodConditionsPattern[]): FieldError[] {
  const errors = patterns.length > MAX_CONDITIONS ? [tooMany(path, patterns.length, MAX_CONDITIONS)] : [];
  const found = each(path, patterns, ({ type, status }, at) => [
    ...invalidEach(`${at}.type`, type, checkQualifiedName(type)),
    ...choice(`${at}.status`, status, ["False", "True", "Unknown"]),
  ]);
  return [...errors, ...found];
}
