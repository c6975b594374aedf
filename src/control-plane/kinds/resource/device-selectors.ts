import type { FieldError } from "../../../api/field-error.ts";
import type { DeviceSelector, OpaqueDeviceConfiguration, RawExtension } from "../../../api/gen/types.ts";
import { forbidden, invalid, required, tooLong } from "../../../api/validation/problems.ts";
import { compileDeviceSelector, estimateDeviceSelector } from "../../cel/devices/device-selector.ts";
import { validateList } from "./bounded-list.ts";
import { validateDriverName } from "./device-names.ts";

const MAX_SELECTORS = 32;
const MAX_EXPRESSION_BYTES = 10 * 1024;
/** What a selector may cost for one device (`CELSelectorExpressionMaxCost`). */
const MAX_COST = 1_000_000;
const MAX_PARAMETER_BYTES = 10 * 1024;

/** The problems of the expressions by which a class or a request selects devices. */
export function validateSelectors(path: string, selectors: readonly DeviceSelector[] | undefined): FieldError[] {
  return validateList(path, selectors, {
    max: MAX_SELECTORS,
    check: ({ cel }, at) => (cel === undefined ? [required(`${at}.cel`)] : validateExpression(`${at}.cel`, cel)),
  });
}

function validateExpression(path: string, { expression }: { expression: string }): FieldError[] {
  const at = `${path}.expression`;
  // What is too long is not compiled.
  if (Buffer.byteLength(expression) > MAX_EXPRESSION_BYTES) return [tooLong(at, MAX_EXPRESSION_BYTES)];
  const compiled = compileDeviceSelector(expression);
  if ("problem" in compiled) return [invalid(at, expression, compiled.problem)];
  return estimateDeviceSelector(expression) > MAX_COST ? [forbidden(at, "too complex, exceeds cost limit")] : [];
}

/** The problems of a configuration, which only its driver understands. */
export function validateConfiguration(
  path: string,
  { opaque }: { readonly opaque?: OpaqueDeviceConfiguration },
): FieldError[] {
  if (opaque === undefined) return [required(`${path}.opaque`)];
  return [
    ...validateDriverName(`${path}.opaque.driver`, opaque.driver),
    ...validateRawObject(`${path}.opaque.parameters`, opaque.parameters),
  ];
}

/** The problems of an object of a driver's own form. */
export function validateRawObject(path: string, value: RawExtension | undefined): FieldError[] {
  if (value === undefined || value === null) return [required(path)];
  const tooBig = Buffer.byteLength(JSON.stringify(value)) > MAX_PARAMETER_BYTES;
  return tooBig ? [tooLong(path, MAX_PARAMETER_BYTES)] : [];
}
