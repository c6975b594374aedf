import type { FieldError } from "../../../api/field-error.ts";
import type { IntOrString } from "../../../api/gen/types.ts";
import { invalid, notNegative } from "../../../api/validation/problems.ts";

const PERCENT = /^[0-9]+%$/;
const PERCENT_RULE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** The problems of a value that must be a number of at least zero or a percentage. */
export function validateIntOrPercent(path: string, value: IntOrString | undefined): FieldError[] {
  if (typeof value !== "string") return notNegative(path, value);
  return PERCENT.test(value) ? [] : [invalid(path, value, PERCENT_RULE)];
}

/** True for an absent value, 0 and `0%`. */
export function isZero(value: IntOrString | undefined): boolean {
  return value === undefined || Number.parseInt(String(value), 10) === 0;
}

/** A problem for a percentage above 100. */
export function atMostAll(path: string, value: IntOrString | undefined): FieldError[] {
  const isTooMuch = typeof value === "string" && PERCENT.test(value) && Number.parseInt(value, 10) > 100;
  return isTooMuch ? [invalid(path, value, "must not be greater than 100%")] : [];
}
