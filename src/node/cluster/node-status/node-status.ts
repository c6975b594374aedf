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

/** All that the node's status is computed from, beside the status before. */
export interface NodeStatusInput extends NodeStatusSettings, NodeStatusFacts {}

/** What the configuration says; the same for as long as the node agent runs. */
export interface NodeStatusSettings extends CapacitySettings {
  readonly nodeName: string;
  /** As `--node-ip` gives them. */
  readonly nodeIps: readonly string[];
  /** A cloud controller tells the node's addresses. */
  readonly isCloudExternal: boolean;
  /** Where the node agent's HTTPS server listens. */
  readonly kubeletPort: number;
  /** False: nobody counts ephemeral storage, and a node without that capacity is as ready as others. */
  readonly localStorageCapacityIsolation: boolean;
  /** What declared features depend on; undefined where the feature gate NodeDeclaredFeatures is off. */
  readonly declaringGates: NodeAbilities["gates"] | undefined;
}

/** What is true now. */
interface NodeStatusFacts {
  readonly machine: MachineInventory;
  /** Of the interface with the default route. */
  readonly machineAddresses: readonly string[];
  readonly interfaceAddresses: readonly string[];
  readonly runtime: RuntimeFacts;
  /** Undefined before they could be listed: those that the status names stay. */
  readonly images: readonly ContainerImage[] | undefined;
  /** Why pods cannot be run, in upstream's order: runtime and PLEG, network, storage, shutdown. */
  readonly errors: readonly string[];
  readonly pressure: NodePressure;
  /** Undefined before the volumes on the machine are known: those that the status names stay. */
  readonly volumesInUse: readonly string[] | undefined;
  /** Undefined where a controller attaches volumes, and keeps them in the status. */
  readonly volumesAttached: readonly AttachedVolume[] | undefined;
}

/** As the runtime answers `Version` and `Status`. */
export interface RuntimeFacts {
  /** `containerd`; empty until it has answered. */
  readonly name: string;
  readonly version: string;
  readonly handlers: readonly RuntimeHandler[];
  readonly features: RuntimeFeatures | undefined;
}

/** `problem`: why the addresses are not what was asked for. */
interface NodeStatusVerdict {
  readonly status: NodeStatus;
  readonly problem: string | undefined;
}

/**
 * The node's status, from the one before: what others keep in it stays (volumes attached, conditions and resources that
 * are not ours). Follows pkg/kubelet/nodestatus/setters.go.
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
    // An empty list takes away what an agent before this one declared, and nobody does any more.
    ...(gates &&
      runtime.name !== "" && { declaredFeatures: computeDeclaredFeatures({ gates, runtime: runtime.features }) }),
  };
  return { status, problem };
}

/**
 * What an administrator added to the capacity by hand stays, and is allocatable as it is. An extended resource that is
 * not in the capacity any more cannot be allocated either.
 */
function computeResources(
  { machine, reservations, maxPods, podsPerCore }: NodeStatusInput,
  previous: NodeStatus,
): { capacity: ResourceList; allocatable: ResourceList } {
  const capacity = { ...previous.capacity, ...computeNodeCapacity(machine, { maxPods, podsPerCore }) };
  const kept = Object.entries(previous.allocatable ?? {}).filter(
    ([name]) => Object.hasOwn(capacity, name) || !isExtendedResource(name),
  );
  return { capacity, allocatable: { ...Object.fromEntries(kept), ...computeNodeAllocatable(capacity, reservations) } };
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
    // A runtime that has not answered yet is the one that was there before.
    containerRuntimeVersion: runtimeVersion ?? (previous?.containerRuntimeVersion || "Unknown://Unknown"),
    kubeletVersion: KUBELET_VERSION,
    // kube-proxy's version was never known here, and upstream stopped to tell its own in its place.
    kubeProxyVersion: "",
    ...(machine.swapBytes > 0n && { swap: { capacity: Number(machine.swapBytes) } }),
  };
}

/** The version in it: without the `v`, and without what a distribution put behind the numbers, as upstream parses it. */
function formatRuntimeVersion(version: string): string {
  const semantic = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/.exec(version);
  return semantic?.[1] ?? /^v?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? "Unknown";
}

/** By name: containerd tells them in another order each time. */
function computeRuntimeHandlers(handlers: readonly RuntimeHandler[]): NodeRuntimeHandler[] {
  const sorted = handlers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.map(({ name, features }) => {
    const recursiveReadOnlyMounts = features?.recursiveReadOnlyMounts ?? false;
    const userNamespaces = features?.userNamespaces ?? false;
    return { name, features: { recursiveReadOnlyMounts, userNamespaces } };
  });
}
