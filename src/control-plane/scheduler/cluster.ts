import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  Node,
  OwnerReference,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  StorageClass,
  Taint,
  VolumeAttachment,
} from "../../api/gen/types.ts";
import { type Amounts, amountsOf } from "../../api/pod-requests.ts";
import { computeQosClass, type QosClass } from "../../api/qos.ts";
import type { LabelSelector } from "../../api/selectors/label-selector.ts";
import { type DeviceClaimName, deviceClaimNameOf } from "../claims/device-claims.ts";
import { podClaimsOf } from "../claims/pod-claims.ts";
import type { DeviceView } from "./devices/device-view.ts";
import type { Labels, NamespaceLabels, PodInfo } from "./pod-info.ts";
import { podInfoOf } from "./pod-info.ts";

/** A node with its pods at one moment. The value never changes: another moment is another value. */
export interface NodeInfo {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly isUnschedulable: boolean;
  readonly allocatable: Amounts;
  /** The features that its agent declares. */
  readonly declaredFeatures: readonly string[];
  readonly pods: readonly PodInfo[];
  /** The sum of the pods' requests. */
  readonly requested: Amounts;
  /** The sum of what scores take the pods to use. */
  readonly assumed: Amounts;
  /** The sizes of its images in bytes, by each of their names. */
  readonly images: ReadonlyMap<string, number>;
}

/** Everything that a decision depends on. */
export interface Cluster {
  /** In order of their names, so that equal clusters lead to equal choices. */
  readonly nodes: readonly NodeInfo[];
  readonly storage: StorageView;
  readonly devices: DeviceView;
  readonly namespaceLabels: NamespaceLabels;
  /** The labels of the pods that are like this one; no requirements where nobody tells. */
  selectorOfKin(pod: PendingPod): LabelSelector;
}

/** The claims, volumes and drivers that decide where a pod can run. */
export interface StorageView {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  volumes(): readonly PersistentVolume[];
  storageClass(name: string): StorageClass | undefined;
  csiDriver(name: string): CSIDriver | undefined;
  /** Finds the CSINode by the node's name. */
  csiNode(name: string): CSINode | undefined;
  /** The attachments of all nodes. */
  attachments(): readonly VolumeAttachment[];
  /** The free capacities of drivers, of all namespaces. */
  capacities(): readonly CSIStorageCapacity[];
}

/** A pod that looks for a node. */
export interface PendingPod {
  readonly info: PodInfo;
  readonly spec: PodSpec;
  readonly qos: QosClass;
  /** Who made it. */
  readonly controller: OwnerReference | undefined;
  /** The claims that a controller makes for the pod's ephemeral volumes. */
  readonly ephemeralClaims: ReadonlySet<string>;
  /** Its claims of devices. */
  readonly deviceClaims: readonly DeviceClaimName[];
}

/** The node with these pods on it. */
export function nodeInfoOf({ metadata, spec, status }: Node, pods: readonly PodInfo[]): NodeInfo {
  const node = {
    name: metadata?.name ?? "",
    labels: metadata?.labels ?? {},
    taints: spec?.taints ?? [],
    isUnschedulable: spec?.unschedulable === true,
    allocatable: amountsOf(status?.allocatable ?? {}),
    declaredFeatures: status?.declaredFeatures ?? [],
    images: new Map(
      (status?.images ?? []).flatMap(({ names = [], sizeBytes = 0 }) => names.map((name) => [name, sizeBytes])),
    ),
  };
  return { ...node, pods, ...sumsOf(pods) };
}

/** The same node with other pods on it. */
export function withPods(node: NodeInfo, pods: readonly PodInfo[]): NodeInfo {
  return { ...node, pods, ...sumsOf(pods) };
}

/** The same cluster with another state of one of its nodes. */
export function withNode(cluster: Cluster, node: NodeInfo): Cluster {
  return { ...cluster, nodes: cluster.nodes.map((other) => (other.name === node.name ? node : other)) };
}

/** The pod as the scheduler looks for a node for it. */
export function pendingPodOf(pod: Pod): PendingPod {
  const { spec = { containers: [] } } = pod;
  const ephemeral = podClaimsOf(pod).filter(({ isEphemeral }) => isEphemeral);
  return {
    info: podInfoOf(pod),
    spec,
    qos: computeQosClass(pod),
    controller: pod.metadata?.ownerReferences?.find(({ controller }) => controller === true),
    ephemeralClaims: new Set(ephemeral.map(({ claim }) => claim)),
    deviceClaims: (spec.resourceClaims ?? []).map((entry) => deviceClaimNameOf(pod, entry)),
  };
}

function sumsOf(pods: readonly PodInfo[]): Pick<NodeInfo, "requested" | "assumed"> {
  return { requested: sumOf(pods.map(({ requests }) => requests)), assumed: sumOf(pods.map(({ assumed }) => assumed)) };
}

function sumOf(amounts: readonly Amounts[]): Amounts {
  const sum = new Map<string, bigint>();
  for (const each of amounts) {
    for (const [name, amount] of each) sum.set(name, (sum.get(name) ?? 0n) + amount);
  }
  return sum;
}
