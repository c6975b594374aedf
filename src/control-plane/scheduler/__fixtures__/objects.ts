import type { Node, Pod, PodSpec } from "../../../api/gen/types.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import { compileDeviceSelector, selectableDevice } from "../../cel/devices/device-selector.ts";
import type { Cluster, NodeInfo, PendingPod, StorageView } from "../cluster.ts";
import { nodeInfoOf, pendingPodOf } from "../cluster.ts";
import type { DeviceView } from "../devices/device-view.ts";
import { type PodInfo, podInfoOf } from "../pod-info.ts";

/** The parts of a pod that a case is about. */
export interface PodOptions extends Partial<PodSpec> {
  name?: string;
  namespace?: string;
  labels?: Record<string, string>;
  /** The requests of its only container: `cpu: 1, memory: 1Gi`. */
  requests?: Record<string, string>;
  status?: Pod["status"];
  metadata?: Pod["metadata"];
}

export function pod(options: PodOptions = {}): Pod {
  const { name = "p", namespace = "default", labels = {}, requests = {}, status, metadata, ...spec } = options;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, labels, uid: `uid-${name}`, ...metadata },
    spec: {
      schedulerName: "default-scheduler",
      containers: [{ name: "main", image: "i", resources: { requests } }],
      ...spec,
    },
    ...(status && { status }),
  };
}

export interface NodeOptions {
  name?: string;
  labels?: Record<string, string>;
  allocatable?: Record<string, string>;
  spec?: Node["spec"];
  status?: Node["status"];
}

export function node(options: NodeOptions = {}): Node {
  const { name = "n1", labels = {}, allocatable = {}, spec, status } = options;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
    ...(spec && { spec }),
    status: { allocatable: { cpu: "4", memory: "8Gi", pods: "110", ...allocatable }, ...status },
  };
}

export const pending = (options: PodOptions = {}): PendingPod => pendingPodOf(pod(options));

/** A pod that is on a node. */
export const placed = (name: string, options: PodOptions = {}): PodInfo => {
  return podInfoOf(pod({ name, nodeName: "n1", ...options }));
};

export const nodeInfo = (options: NodeOptions = {}, pods: readonly PodInfo[] = []): NodeInfo => {
  return nodeInfoOf(node(options), pods);
};

/** A view of a cluster without storage besides these parts. */
export function storage(parts: Partial<StorageView> = {}): StorageView {
  return {
    claim: () => undefined,
    volume: () => undefined,
    volumes: () => [],
    storageClass: () => undefined,
    csiDriver: () => undefined,
    csiNode: () => undefined,
    attachments: () => [],
    capacities: () => [],
    ...parts,
  };
}

/** A view of a cluster without devices besides these parts. */
export function devices(parts: Partial<DeviceView> = {}): DeviceView {
  return {
    claim: () => undefined,
    deviceClass: () => undefined,
    slices: () => [],
    taken: () => new Set(),
    isPending: () => false,
    selector: compileDeviceSelector,
    selectable: ({ driver, device }) => selectableDevice(driver, device),
    ...parts,
  };
}

export function cluster(nodes: readonly NodeInfo[], parts: Partial<Cluster> = {}): Cluster {
  return {
    nodes,
    storage: storage(),
    devices: devices(),
    namespaceLabels: (name) => ({ "kubernetes.io/metadata.name": name }),
    selectorOfKin: () => labelSelectorOf(undefined),
    ...parts,
  };
}
