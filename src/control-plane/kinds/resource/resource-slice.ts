import type { FieldError } from "../../../api/field-error.ts";
import type { ResourcePool, ResourceSliceSpec } from "../../../api/gen/types.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { validateNodeSelector } from "../../../api/validation/node-selector.ts";
import { forbidden, invalid, invalidEach, required } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";
import { validateSet } from "./bounded-list.ts";
import { validateDriverName, validatePoolName } from "./device-names.ts";
import { dropAlphaFields, validateDevice } from "./slice-device.ts";

const MAX_DEVICES = 128;
/** The most devices of a slice of which one has taints. */
const MAX_TAINTED_DEVICES = 64;

export const resourceSliceKind = defineKind({
  group: "resource.k8s.io",
  kind: "ResourceSlice",
  plural: "resourceslices",
  namespaced: false,
  strategy: strategyOf("ResourceSlice", {
    generation: true,
    fields: {
      "spec.nodeName": ({ spec }) => spec.nodeName ?? "",
      "spec.driver": ({ spec }) => spec.driver,
    },
    default: ({ spec }) => spec.devices?.forEach(dropAlphaFields),
    validate: ({ spec }) => validateSpec("spec", spec),
    validateUpdate: ({ spec }, { spec: current }) => [
      ...immutable("spec.pool.name", spec.pool.name, current.pool.name),
      ...immutable("spec.driver", spec.driver, current.driver),
      ...immutable("spec.nodeName", spec.nodeName, current.nodeName),
    ],
    warnings: ({ spec: { driver } }) => {
      if (driver === driver.toLowerCase()) return [];
      return [`spec.driver: driver names should be lowercase; "${driver}" contains uppercase characters`];
    },
  }),
});

function validateSpec(path: string, spec: ResourceSliceSpec): FieldError[] {
  const { driver, pool, devices = [], sharedCounters } = spec;
  const isTainted = devices.some(({ taints = [] }) => taints.length > 0);
  return [
    ...validateDriverName(`${path}.driver`, driver),
    ...validatePool(`${path}.pool`, pool),
    ...validateNodes(path, spec),
    ...validateSet(`${path}.devices`, devices, {
      max: isTainted ? MAX_TAINTED_DEVICES : MAX_DEVICES,
      check: validateDevice,
      keyOf: ({ name }) => name,
    }),
    ...(sharedCounters === undefined
      ? []
      : [forbidden(`${path}.sharedCounters`, "nodelet gives whole devices only: list each as a device of its own")]),
  ];
}

function validatePool(path: string, { name, resourceSliceCount, generation }: ResourcePool): FieldError[] {
  const [countRule, generationRule] = ["must be greater than zero", "must be greater than or equal to zero"];
  return [
    ...validatePoolName(`${path}.name`, name),
    ...(resourceSliceCount > 0 ? [] : [invalid(`${path}.resourceSliceCount`, resourceSliceCount, countRule)]),
    ...(generation >= 0 ? [] : [invalid(`${path}.generation`, generation, generationRule)]),
  ];
}

/** The problems of where the devices are: on one node, on some, on all. */
function validateNodes(path: string, spec: ResourceSliceSpec): FieldError[] {
  const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection } = spec;
  const chosen = [
    ...(nodeName ? ["`nodeName`"] : []),
    ...(nodeSelector ? ["`nodeSelector`"] : []),
    ...(allNodes ? ["`allNodes`"] : []),
    ...(perDeviceNodeSelection ? ["`perDeviceNodeSelection`"] : []),
  ];
  const rule = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  return [
    ...validateNodeName(`${path}.nodeName`, nodeName),
    ...(nodeSelector === undefined ? [] : validateSelector(`${path}.nodeSelector`, nodeSelector)),
    ...(allNodes === false ? [invalid(`${path}.allNodes`, allNodes, "must be either unset or set to true")] : []),
    ...(perDeviceNodeSelection === undefined
      ? []
      : [forbidden(`${path}.perDeviceNodeSelection`, "nodelet takes nodes of whole slices: make a slice for each")]),
    ...(chosen.length === 0 ? [required(path, rule)] : []),
    ...(chosen.length > 1 ? [invalid(path, `{${chosen.join(", ")}}`, `${rule}, but multiple fields are set`)] : []),
  ];
}

function validateNodeName(path: string, name: string | undefined): FieldError[] {
  if (name === "") return [invalid(path, name, "must be either unset or set to a non-empty string")];
  return name === undefined ? [] : invalidEach(path, name, checkDnsSubdomain(name));
}

function validateSelector(path: string, selector: NonNullable<ResourceSliceSpec["nodeSelector"]>): FieldError[] {
  const { nodeSelectorTerms } = selector;
  const rule = "must have exactly one node selector term";
  return [
    ...validateNodeSelector(path, selector, { allowsAnyValue: false }),
    // The selectors of a claim's devices are joined into one.
    ...(nodeSelectorTerms.length === 1 ? [] : [invalid(`${path}.nodeSelectorTerms`, nodeSelectorTerms, rule)]),
  ];
}
