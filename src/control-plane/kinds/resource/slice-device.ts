import type { FieldError } from "../../../api/field-error.ts";
import type { Device, DeviceAttribute, DeviceTaint } from "../../../api/gen/types.ts";
import { checkLabelValue, checkQualifiedName } from "../../../api/validation/names.ts";
import { forbidden, invalid, invalidEach, oneOf, tooLong } from "../../../api/validation/problems.ts";
import { validateList } from "./bounded-list.ts";
import { TAINT_EFFECTS } from "./device-claim.ts";
import { validateLabelName, validateQualifiedName } from "./device-names.ts";

const MAX_FACTS = 32;
const MAX_VALUE = 64;
const MAX_TAINTS = 16;

/** The fields of devices that say how one is shared or made ready, which the scheduler here does not know. */
const UNKNOWN: ReadonlyArray<readonly [keyof Device, string]> = [
  ["consumesCounters", "nodelet gives whole devices only: list those that can be given at the same time"],
  ["bindingConditions", "nodelet does not wait for devices: list them when they are ready"],
  ["bindingFailureConditions", "nodelet does not wait for devices: list them when they are ready"],
  ["bindsToNode", "nodelet does not wait for devices: list them on the nodes where they are"],
];

/** Removes, in place, what upstream removes as long as its alpha features are off. */
export function dropAlphaFields(device: Device): void {
  delete device.nodeAllocatableResourceMappings;
  for (const attribute of Object.values(device.attributes ?? {})) {
    delete attribute.bools;
    delete attribute.ints;
    delete attribute.strings;
    delete attribute.versions;
  }
}

/** The problems of a device that a driver lists. */
export function validateDevice(device: Device, path: string): FieldError[] {
  const { name, attributes = {}, capacity = {}, taints } = device;
  const facts = Object.keys(attributes).length + Object.keys(capacity).length;
  const rule = `the total number of attributes and capacities must not exceed ${MAX_FACTS}`;
  return [
    ...validateLabelName(`${path}.name`, name),
    ...(facts > MAX_FACTS ? [invalid(path, facts, rule)] : []),
    ...Object.entries(attributes).flatMap(([key, attribute]) => [
      ...validateQualifiedName(`${path}.attributes`, key),
      ...validateAttribute(`${path}.attributes[${key}]`, attribute),
    ]),
    ...Object.entries(capacity).flatMap(([key, { requestPolicy }]) => [
      ...validateQualifiedName(`${path}.capacity`, key),
      ...(requestPolicy === undefined
        ? []
        : [forbidden(`${path}.capacity[${key}].requestPolicy`, "allowMultipleAllocations must be true")]),
    ]),
    ...validateList(`${path}.taints`, taints, { max: MAX_TAINTS, check: validateTaint }),
    ...validateSharing(path, device),
  ];
}

function validateSharing(path: string, device: Device): FieldError[] {
  const { nodeName, nodeSelector, allNodes, allowMultipleAllocations } = device;
  const hasNodes = nodeName !== undefined || nodeSelector !== undefined || allNodes !== undefined;
  const rule =
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
  return [
    ...(hasNodes ? [invalid(path, null, rule)] : []),
    ...UNKNOWN.flatMap(([field, mend]) => (device[field] === undefined ? [] : [forbidden(`${path}.${field}`, mend)])),
    ...(allowMultipleAllocations === true
      ? [forbidden(`${path}.allowMultipleAllocations`, "nodelet gives a device to one claim: leave it out")]
      : []),
  ];
}

const NUMERIC = "(0|[1-9]\\d*)";
const IDENTIFIER = "(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)";
const BUILD = "[0-9a-zA-Z-]+";
const SEMANTIC_VERSION = new RegExp(
  `^${NUMERIC}\\.${NUMERIC}\\.${NUMERIC}(-${IDENTIFIER}(\\.${IDENTIFIER})*)?(\\+${BUILD}(\\.${BUILD})*)?$`,
);

function validateAttribute(path: string, attribute: DeviceAttribute): FieldError[] {
  const { bool, int, string, version } = attribute;
  const values = [string, int, bool, version].filter((value) => value !== undefined);
  const [rule, versionRule] = [
    "exactly one value must be specified",
    "must be a string compatible with semver.org spec 2.0.0",
  ];
  return [
    ...atMost(`${path}.string`, string),
    ...(version === undefined || SEMANTIC_VERSION.test(version)
      ? []
      : [invalid(`${path}.version`, version, versionRule)]),
    ...atMost(`${path}.version`, version),
    ...(values.length === 1 ? [] : [invalid(path, values.length === 0 ? "" : attribute, rule)]),
  ];
}

function atMost(path: string, text = ""): FieldError[] {
  return Buffer.byteLength(text) > MAX_VALUE ? [tooLong(path, MAX_VALUE)] : [];
}

function validateTaint({ key, value = "", effect }: DeviceTaint, path: string): FieldError[] {
  return [
    ...invalidEach(`${path}.key`, key, checkQualifiedName(key)),
    ...(value === "" ? [] : invalidEach(`${path}.value`, value, checkLabelValue(value))),
    ...oneOf(`${path}.effect`, effect, TAINT_EFFECTS),
  ];
}
