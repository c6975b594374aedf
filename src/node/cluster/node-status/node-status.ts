import { computeDeclaredFeatures, type NodeAbilities } from "../../../api/declared-features.ts";
import type {
  AttachedVolume,
  ContainerImage,
  NodeRuntimeHandler,
  NodeStatus,
  NodeSystemInfo,
} from "../../../api/gen/types.ts";
import type { ResourceList } from "../../../api/resources.ts";
import { KUBELET_VERSION } from "../../../config/kubelet-version.ts";
import type { RuntimeFeatures, RuntimeHandler } from "../../../cri/gen/cri-v1.ts";
import type { CapacitySettings } from "../../resources/capacity/capacity-settings.ts";
import type { MachineInventory } from "../../resources/capacity/machine-inventory.ts";
import {
  computeNodeAllocatable,
  computeNodeCapacity,
  isExtendedResource,
} from "../../resources/capacity/node-capacity.ts";
import { computeNodeAddresses } from "./node-addresses.ts";
import { computeNodeConditions, type NodePressure } from "./node-conditions.ts";

/** Everything that the node's status is computed from, besides the previous status. */
export interface NodeStatusInput extends NodeStatusSettings, NodeStatusFacts {}

/** What the configuration says. It stays the same for as long as the node agent runs. */
export interface NodeStatusSettings extends CapacitySettings {
  readonly nodeName: string;
  /** The addresses of `--node-ip`. */
  readonly nodeIps: readonly string[];
  /** What the node tells as its address where the machine has none by itself; undefined for none. */
  readonly fallbackIp: string | undefined;
  /** True when a cloud controller sets the node's addresses. */
  readonly isCloudExternal: boolean;
  /** The port of the node agent's HTTPS server. */
  readonly kubeletPort: number;
  /** The gates that declared features depend on; undefined where the feature gate NodeDeclaredFeatures is off. */
  readonly declaringGates: NodeAbilities["gates"] | undefined;
}

/** The facts of this moment. */
interface NodeStatusFacts {
  readonly machine: MachineInventory;
  /** The addresses of the interface with the default route. */
  readonly machineAddresses: readonly string[];
  readonly interfaceAddresses: readonly string[];
  readonly runtime: RuntimeFacts;
  /** The images are undefined before they could be listed. The ones that the status names then stay. */
  readonly images: readonly ContainerImage[] | undefined;
  /** The errors tell why pods cannot be run, in upstream's order: runtime and PLEG, network, storage, shutdown. */
  readonly errors: readonly string[];
  readonly pressure: NodePressure;
  /** The names are undefined before the volumes on the machine are known. The ones that the status names then stay. */
  readonly volumesInUse: readonly string[] | undefined;
  /** The volumes are undefined where a controller attaches volumes, and keeps them in the status. */
  readonly volumesAttached: readonly AttachedVolume[] | undefined;
}

/** What the runtime answers to `Version` and `Status`. */
export interface RuntimeFacts {
  /** The runtime's name, such as `containerd`; empty until it has answered. */
  readonly name: string;
  readonly version: string;
  readonly handlers: readonly RuntimeHandler[];
  readonly features: RuntimeFeatures | undefined;
}

/** `problem` tells why the addresses are not what was asked for. */
interface NodeStatusVerdict {
  readonly status: NodeStatus;
  readonly problem: string | undefined;
}

/**
 * Computes the node's status from the previous one: what others keep in it stays (volumes attached, conditions and
 * resources that are not ours). Follows pkg/kubelet/nodestatus/setters.go.
 */
export function computeNodeStatus(input: NodeStatusInput, previous: NodeStatus, now: number): NodeStatusVerdict {
  const { runtime, images, volumesInUse, volumesAttached, declaringGates: gates } = input;
  const { addresses, problem } = computeNodeAddresses({ ...input, previous: previous.addresses ?? [] });
  const resources = computeResources(input, previous);
  const errors = [...input.errors, ...findMissingCapacity(resources.capacity, input.localStorageCapacityIsolation)];
  const features = runtime.features && { supplementalGroupsPolicy: runtime.features.supplementalGroupsPolicy };
  const status: NodeStatus = {
    ...previous,
    ...resources,
    addresses: [...addresses],
    conditions: computeNodeConditions({
      errors,
      pressure: input.pressure,
      previous: previous.conditions ?? [],
      now,
    }),
    daemonEndpoints: { kubeletEndpoint: { Port: input.kubeletPort } },
    nodeInfo: computeNodeInfo(input, previous.nodeInfo),
    ...(images !== undefined && { images: [...images] }),
    ...(runtime.name !== "" && { runtimeHandlers: computeRuntimeHandlers(runtime.handlers) }),
    ...(features !== undefined && { features }),
    ...(volumesInUse !== undefined && { volumesInUse: [...volumesInUse] }),
    ...(volumesAttached !== undefined && { volumesAttached: [...volumesAttached] }),
    // An empty list removes the features that an earlier agent declared and that are no longer declared.
    ...(gates &&
      runtime.name !== "" && { declaredFeatures: computeDeclaredFeatures({ gates, runtime: runtime.features }) }),
  };
  return { status, problem };
}

/**
 * Computes capacity and allocatable. What an administrator added to the capacity by hand stays, and is allocatable as
 * it is. An extended resource that is no longer in the capacity cannot be allocated either. Ephemeral storage of before
 * goes where it is no longer counted.
 */
function computeResources(
  input: NodeStatusInput,
  previous: NodeStatus,
): { capacity: ResourceList; allocatable: ResourceList } {
  const { machine, reservations } = input;
  const capacity = { ...withoutUncounted(previous.capacity, input), ...computeNodeCapacity(machine, input) };
  const kept = Object.entries(withoutUncounted(previous.allocatable, input)).filter(
    ([name]) => Object.hasOwn(capacity, name) || !isExtendedResource(name),
  );
  return { capacity, allocatable: { ...Object.fromEntries(kept), ...computeNodeAllocatable(capacity, reservations) } };
}

function withoutUncounted(
  resources: ResourceList = {},
  { localStorageCapacityIsolation }: NodeStatusSettings,
): ResourceList {
  if (localStorageCapacityIsolation) return resources;
  const { "ephemeral-storage": _, ...rest } = resources;
  return rest;
}

function findMissingCapacity(capacity: ResourceList, localStorageCapacityIsolation: boolean): string[] {
  const required = ["cpu", "memory", "pods", ...(localStorageCapacityIsolation ? ["ephemeral-storage"] : [])];
  const missing = required.filter((name) => !Object.hasOwn(capacity, name));
  return missing.length === 0 ? [] : [`missing node capacity for resources: ${missing.join(", ")}`];
}

function computeNodeInfo({ machine, runtime }: NodeStatusInput, previous: NodeSystemInfo | undefined): NodeSystemInfo {
  const { machineId, systemUuid, bootId, kernelRelease, osImage, architecture } = machine.identity;
  const runtimeVersion = runtime.name === "" ? undefined : `${runtime.name}://${formatRuntimeVersion(runtime.version)}`;
  return {
    machineID: machineId,
    systemUUID: systemUuid,
    bootID: bootId,
    kernelVersion: kernelRelease,
    osImage,
    architecture,
    operatingSystem: "linux",
    // Until the runtime has answered, the version in the previous status stays.
    containerRuntimeVersion: runtimeVersion ?? (previous?.containerRuntimeVersion || "Unknown://Unknown"),
    kubeletVersion: KUBELET_VERSION,
    // kube-proxy's version was never known here, and upstream no longer reports its own version in its place.
    kubeProxyVersion: "",
    ...(machine.swapBytes > 0n && { swap: { capacity: Number(machine.swapBytes) } }),
  };
}

/**
 * Extracts the version without the `v` and without the suffix that a distribution puts behind the numbers, as upstream
 * parses it.
 */
function formatRuntimeVersion(version: string): string {
  const semantic = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/.exec(version);
  return semantic?.[1] ?? /^v?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? "Unknown";
}

/** The handlers are sorted by name, because containerd lists them in another order each time. */
function computeRuntimeHandlers(handlers: readonly RuntimeHandler[]): NodeRuntimeHandler[] {
  const sorted = handlers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.map(({ name, features }) => {
    const recursiveReadOnlyMounts = features?.recursiveReadOnlyMounts ?? false;
    const userNamespaces = features?.userNamespaces ?? false;
    return { name, features: { recursiveReadOnlyMounts, userNamespaces } };
  });
}
