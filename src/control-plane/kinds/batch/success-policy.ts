import type { FieldError } from "../../../api/field-error.ts";
import type { SuccessPolicy, SuccessPolicyRule } from "../../../api/gen/types.ts";
import { each, invalid, notNegative, required, tooLong, tooMany } from "../../../api/validation/problems.ts";

const MAX_RULES = 20;
const MAX_INDEXES_BYTES = 64 * 1024;

/** The problems of the success policy of an indexed job with this many completions. */
export function validateSuccessPolicy(path: string, { rules }: SuccessPolicy, completions: number): FieldError[] {
  const at = `${path}.rules`;
  if (rules.length === 0) {
    return [required(at, "at least one rules must be specified when the successPolicy is specified")];
  }
  const errors = rules.length > MAX_RULES ? [tooMany(at, rules.length, MAX_RULES)] : [];
  return [...errors, ...each(at, rules, (rule, rulePath) => validateRule(rulePath, rule, completions))];
}

function validateRule(path: string, rule: SuccessPolicyRule, completions: number): FieldError[] {
  const { succeededCount, succeededIndexes } = rule;
  if (succeededCount === undefined && succeededIndexes === undefined) {
    return [required(path, "at least one of succeededCount or succeededIndexes must be specified")];
  }
  const errors: FieldError[] = [];
  const indexes = succeededIndexes === undefined ? undefined : countIndexes(succeededIndexes, completions);
  if (succeededIndexes !== undefined && succeededIndexes.length > MAX_INDEXES_BYTES) {
    errors.push(tooLong(`${path}.succeededIndexes`, MAX_INDEXES_BYTES));
  }
  if (typeof indexes === "string") {
    const detail = `error parsing succeededIndexes: ${indexes}`;
    errors.push(invalid(`${path}.succeededIndexes`, succeededIndexes, detail));
  }
  if (succeededCount === undefined) return errors;
  const at = `${path}.succeededCount`;
  errors.push(...notNegative(at, succeededCount));
  if (succeededCount > completions) {
    const detail = `must be less than or equal to ${completions} (the number of specified completions)`;
    errors.push(invalid(at, succeededCount, detail));
  }
  if (typeof indexes === "number" && succeededCount > indexes) {
    const set = "the number of indexes in the specified succeededIndexes field";
    errors.push(invalid(at, succeededCount, `must be less than or equal to ${indexes} (${set})`));
  }
  return errors;
}

/** The number of indexes in a text like `1,3-5,7`, or what is wrong with it. */
function countIndexes(text: string, completions: number): number | string {
  if (text === "") return 0;
  let count = 0;
  let last = -1;
  for (const interval of text.split(",")) {
    const [first = "", end = first, ...more] = interval.split("-");
    if (more.length > 0)
      return `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`;
    for (const part of [first, end]) {
      if (!/^\d+$/.test(part)) return `cannot convert string to integer for index: ${JSON.stringify(part)}`;
      if (Number(part) >= completions) return `too large index: ${JSON.stringify(part)}`;
    }
    if (Number(first) > Number(end)) return `non-increasing order, previous: ${first}, current: ${end}`;
    if (Number(first) <= last) return `non-increasing order, previous: ${last}, current: ${first}`;
    last = Number(end);
    count += last - Number(first) + 1;
  }
  return count;
}
