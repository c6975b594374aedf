import type { FieldError } from "../../../api/field-error.ts";
import type { LimitRangeItem } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { compareQuantities, parseQuantity } from "../../../api/quantity.ts";
import { checkQualifiedName } from "../../../api/validation/names.ts";
import { duplicate, each, forbidden, invalid, invalidEach, required } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { isOvercommitAllowed, validateResourceName } from "./resource-amounts.ts";

/** Limit ranges, which admission applies to pods and claims. */
export const limitRangeKind = defineKind({
  kind: "LimitRange",
  plural: "limitranges",
  shortNames: ["limits"],
  strategy: { default: defaultLimitRange, validate: validateLimitRange, createsOnUpdate: true },
});

function defaultLimitRange(object: KubeObject): KubeObject {
  const range = typed("LimitRange", object);
  if (!range.spec) return object;
  return untyped({ ...range, spec: { ...range.spec, limits: range.spec.limits.map(defaultItem) } });
}

/**
 * The item for containers with its defaults. A resource without a default limit gets the maximum, and one without a
 * default request gets its limit, or else the minimum.
 */
function defaultItem(item: LimitRangeItem): LimitRangeItem {
  if (item.type !== "Container") return item;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  return {
    ...item,
    ...(Object.keys(limits).length > 0 && { default: limits }),
    ...(Object.keys(requests).length > 0 && { defaultRequest: requests }),
  };
}

function validateLimitRange(object: KubeObject): FieldError[] {
  const types = new Set<string>();
  return each("spec.limits", typed("LimitRange", object).spec?.limits, (item, path) => {
    const errors = validateType(`${path}.type`, item.type);
    if (types.has(item.type)) errors.push(duplicate(`${path}.type`, item.type));
    types.add(item.type);
    return [...errors, ...validateNames(path, item), ...validateItem(path, item)];
  });
}

function validateType(path: string, type: string): FieldError[] {
  const errors = invalidEach(path, type, checkQualifiedName(type));
  const isKnown = type.includes("/") || ["Pod", "Container", "PersistentVolumeClaim"].includes(type);
  return errors.length > 0 || isKnown
    ? errors
    : [invalid(path, type, "must be a standard limit type or fully qualified")];
}

function validateNames(path: string, item: LimitRangeItem): FieldError[] {
  const ofContainer = item.type === "Pod" || item.type === "Container";
  const errors: FieldError[] = [];
  for (const field of ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const) {
    const names = Object.keys(item[field] ?? {});
    const isDefault = field === "default" || field === "defaultRequest";
    if (item.type === "Pod" && isDefault) {
      if (names.length > 0) errors.push(forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'"));
      continue;
    }
    errors.push(...names.flatMap((name) => validateResourceName(`${path}.${field}[${name}]`, name, ofContainer)));
  }
  return errors;
}

function validateItem(path: string, item: LimitRangeItem): FieldError[] {
  const errors: FieldError[] = [];
  const { min = {}, max = {}, maxLimitRequestRatio = {} } = item;
  if (item.type === "PersistentVolumeClaim" && min["storage"] === undefined && max["storage"] === undefined) {
    const detail = "either minimum or maximum storage value is required, but neither was provided";
    errors.push(required(`${path}.limits`, detail));
  }
  const isPod = item.type === "Pod";
  const lists = [max, min, isPod ? {} : item.default, isPod ? {} : item.defaultRequest, maxLimitRequestRatio];
  const names = new Set(lists.flatMap((list) => Object.keys(list ?? {})));
  for (const name of names) errors.push(...validateAmounts(path, name, item));
  return errors;
}

/** The problems of the values for one resource, which must fit together. */
function validateAmounts(path: string, name: string, item: LimitRangeItem): FieldError[] {
  const errors: FieldError[] = [];
  const [min, max] = [item.min?.[name], item.max?.[name]];
  const isPod = item.type === "Pod";
  const limit = isPod ? undefined : item.default?.[name];
  const request = isPod ? undefined : item.defaultRequest?.[name];
  const check = (a: string | undefined, b: string | undefined, error: (a: string, b: string) => FieldError): void => {
    if (a !== undefined && b !== undefined && compareQuantities(a, b) > 0) errors.push(error(a, b));
  };
  const at = (field: string) => `${path}.${field}[${name}]`;
  check(min, max, (a, b) => invalid(at("min"), a, `min value ${a} is greater than max value ${b}`));
  check(min, request, (a, b) =>
    invalid(at("defaultRequest"), b, `min value ${a} is greater than default request value ${b}`),
  );
  check(request, max, (a, b) =>
    invalid(at("defaultRequest"), a, `default request value ${a} is greater than max value ${b}`),
  );
  check(request, limit, (a, b) =>
    invalid(at("defaultRequest"), a, `default request value ${a} is greater than default limit value ${b}`),
  );
  check(min, limit, (a, b) => invalid(at("default"), a, `min value ${a} is greater than default value ${b}`));
  check(limit, max, (a, b) => invalid(at("default"), b, `default value ${a} is greater than max value ${b}`));
  if (!isOvercommitAllowed(name) && limit !== undefined && request !== undefined && limit !== request) {
    const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
    errors.push(invalid(at("defaultRequest"), request, detail));
  }
  return [...errors, ...validateRatio(at("maxLimitRequestRatio"), item.maxLimitRequestRatio?.[name], { min, max })];
}

function validateRatio(
  path: string,
  ratio: string | undefined,
  { min, max }: { min: string | undefined; max: string | undefined },
): FieldError[] {
  if (ratio === undefined) return [];
  if (compareQuantities(ratio, "1") < 0) return [invalid(path, ratio, `ratio ${ratio} is less than 1`)];
  if (min === undefined || max === undefined) return [];
  const widest = amountOf(max) / amountOf(min);
  if (amountOf(ratio) <= widest) return [];
  return [invalid(path, ratio, `ratio ${ratio} is greater than max/min = ${widest.toFixed(6)}`)];
}

/** The amount as a floating point number, which is precise enough for a ratio. */
const amountOf = (quantity: string) => Number(parseQuantity(quantity)?.nanos ?? 0n) / 1e9;
