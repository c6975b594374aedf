import type { FieldError } from "../../../api/field-error.ts";
import type {
  DeviceClaim,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
} from "../../../api/gen/types.ts";
import { checkDnsSubdomain, checkLabelValue, checkQualifiedName } from "../../../api/validation/names.ts";
import {
  each,
  forbidden,
  invalid,
  invalidEach,
  oneOf,
  optionalOneOf,
  required,
  unsupported,
} from "../../../api/validation/problems.ts";
import { validateList, validateSet } from "./bounded-list.ts";
import { validateFullyQualifiedName, validateLabelName } from "./device-names.ts";
import { validateConfiguration, validateSelectors } from "./device-selectors.ts";

/** The most requests of a claim, devices of an allocation, constraints, and configurations. */
export const MAX_DEVICES = 32;
const MAX_ALTERNATIVES = 8;
/** The effects of taints, in upstream's order. */
export const TAINT_EFFECTS = ["NoExecute", "NoSchedule", "None"];

/** The names by which a claim's requests are referred to: `gpu`, or `gpu/large` for an alternative. */
type RequestNames = ReadonlySet<string>;

/** The names of the claim's requests and of their alternatives. */
export function requestNamesOf({ requests = [] }: DeviceClaim = {}): RequestNames {
  const names = requests.flatMap(({ name, firstAvailable = [] }) => {
    return [name, ...firstAvailable.map((alternative) => `${name}/${alternative.name}`)];
  });
  return new Set(names);
}

/** Sets what the author of a claim left out, in place: one device of each request. */
export function defaultDeviceClaim({ requests = [] }: DeviceClaim = {}): void {
  for (const request of requests.flatMap(({ exactly, firstAvailable = [] }) =>
    [exactly ?? [], firstAvailable].flat(),
  )) {
    request.allocationMode ||= "ExactCount";
    if (request.allocationMode === "ExactCount") request.count ||= 1;
    for (const toleration of request.tolerations ?? []) toleration.operator ||= "Equal";
  }
}

/** The problems of what a claim, or a template for claims, asks for. */
export function validateDeviceClaim(path: string, claim: DeviceClaim = {}): FieldError[] {
  const names = requestNamesOf(claim);
  const max = MAX_DEVICES;
  return [
    ...validateSet(`${path}.requests`, claim.requests, { max, check: validateRequest, keyOf: ({ name }) => name }),
    ...validateList(`${path}.constraints`, claim.constraints, {
      max,
      check: (constraint, at) => validateConstraint(at, constraint, names),
    }),
    ...validateList(`${path}.config`, claim.config, {
      max,
      check: (config, at) => [
        ...validateRequestReferences(`${at}.requests`, config.requests, names),
        ...validateConfiguration(at, config),
      ],
    }),
  ];
}

/** The problems of a list of names of requests. */
export function validateRequestReferences(
  path: string,
  references: readonly string[] | undefined,
  names: RequestNames,
): FieldError[] {
  const check = (name: string, at: string) => validateRequestReference(at, name, names);
  return validateSet(path, references, { max: MAX_DEVICES, check, keyOf: (name) => name });
}

/** The problems of the name of a request. */
export function validateRequestReference(path: string, name: string, names: RequestNames): FieldError[] {
  const rule = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  const parts = name.split("/");
  if (parts.length > 2) return [invalid(path, name, rule)];
  return [
    ...parts.flatMap((part) => validateLabelName(path, part)),
    ...(names.has(name) ? [] : [invalid(path, name, rule)]),
  ];
}

function validateRequest({ name, exactly, firstAvailable = [] }: DeviceRequest, path: string): FieldError[] {
  const errors = validateLabelName(`${path}.name`, name);
  const rule = "exactly one of `exactly` or `firstAvailable` is required";
  if (exactly === undefined && firstAvailable.length === 0) return [...errors, required(path, rule)];
  if (exactly === undefined) {
    const set = { max: MAX_ALTERNATIVES, check: validateAlternative, keyOf: (item: DeviceSubRequest) => item.name };
    return [...errors, ...validateSet(`${path}.firstAvailable`, firstAvailable, set)];
  }
  if (firstAvailable.length > 0) return [...errors, invalid(path, null, `${rule}, but multiple fields are set`)];
  return [...errors, ...validateWanted(exactly, `${path}.exactly`)];
}

function validateAlternative(alternative: DeviceSubRequest, path: string): FieldError[] {
  return [...validateLabelName(`${path}.name`, alternative.name), ...validateWanted(alternative, path)];
}

function validateWanted(wanted: ExactDeviceRequest | DeviceSubRequest, path: string): FieldError[] {
  const { deviceClassName, selectors, tolerations, capacity } = wanted;
  const at = `${path}.deviceClassName`;
  return [
    ...(deviceClassName === "" ? [required(at)] : invalidEach(at, deviceClassName, checkDnsSubdomain(deviceClassName))),
    ...validateSelectors(`${path}.selectors`, selectors),
    ...validateCount(path, wanted),
    ...each(`${path}.tolerations`, tolerations, validateToleration),
    ...(capacity === undefined
      ? []
      : [forbidden(`${path}.capacity`, "nodelet gives whole devices: select by capacity with an expression")]),
  ];
}

function validateCount(path: string, { allocationMode = "", count = 0 }: Omit<DeviceSubRequest, "name">): FieldError[] {
  const at = `${path}.count`;
  switch (allocationMode) {
    case "All":
      return count === 0 ? [] : [invalid(at, count, "must not be specified when allocationMode is 'All'")];
    case "ExactCount":
      return count > 0 ? [] : [invalid(at, count, "must be greater than zero")];
    default:
      return [unsupported(`${path}.allocationMode`, allocationMode, ["All", "ExactCount"])];
  }
}

function validateToleration({ key = "", operator, value = "", effect }: DeviceToleration, path: string): FieldError[] {
  const ofValue =
    operator === "Exists"
      ? value === ""
        ? []
        : [invalid(`${path}.value`, value, "must be empty for operator `Exists`")]
      : operator === "Equal"
        ? invalidEach(`${path}.value`, value, checkLabelValue(value))
        : oneOf(`${path}.operator`, operator, ["Equal", "Exists"]);
  return [
    ...(key === "" ? [] : invalidEach(`${path}.key`, key, checkQualifiedName(key))),
    ...ofValue,
    ...optionalOneOf(`${path}.effect`, effect || undefined, TAINT_EFFECTS),
  ];
}

function validateConstraint(path: string, constraint: DeviceConstraint, names: RequestNames): FieldError[] {
  const { requests, matchAttribute, distinctAttribute } = constraint;
  const errors = validateRequestReferences(`${path}.requests`, requests, names);
  if (matchAttribute !== undefined) {
    errors.push(...validateFullyQualifiedName(`${path}.matchAttribute`, matchAttribute));
  } else if (distinctAttribute === undefined) {
    errors.push(
      required(path, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'),
    );
  }
  return distinctAttribute === undefined
    ? errors
    : [
        ...errors,
        forbidden(`${path}.distinctAttribute`, "nodelet knows no such constraint: use matchAttribute or selectors"),
      ];
}
