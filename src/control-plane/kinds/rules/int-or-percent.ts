import type { FieldError } from "../../../api/field-error.ts";
import type { IntOrString } from "../../../api/gen/types.ts";
import { invalid, notNegative } from "../../../api/validation/problems.ts";

const PERCENT = /^[0-9]+%$/;
const PERCENT_RULE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A number of at least zero, or a percentage. */
export function validateIntOrPercent(path: string, value: IntOrString | undefined): FieldError[] {
  if (typeof value !== "string") return notNegative(path, value);
  return PERCENT.test(value) ? [] : [invalid(path, value, PERCENT_RULE)];
}

/** The number before the percent sign counts. */
export function isZero(value: IntOrString | undefined): boolean {
  return value === undefined || Number.parseInt(String(value), 10) === 0;
}

/** Fine for anything but a percentage. */
export function atMostAll(path: string, value: IntOrString | undefined): FieldError[] {
  const isTooMuch = typeof value === "string" && PERCENT.test(value) && Number.parseInt(value, 10) > 100;
  return isTooMuch ? [invalid(path, value, "must not be greater than 100%")] : [];
}
