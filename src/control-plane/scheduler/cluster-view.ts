import { type KubeObject, typed } from "../../api/object.ts";
import type { ResourceEvent, ResourceReader } from "../ports/resources.ts";
import { type Cluster, type NodeInfo, nodeInfoOf, withPods } from "./cluster.ts";
import { createDeviceView, type PendingDevices } from "./devices/device-view.ts";
import type { ClusterChange } from "./filters/filter.ts";
import { createKinSelectors } from "./kin-selectors.ts";
import { type PodInfo, podInfoOf } from "./pod-info.ts";
import { createStorageView } from "./storage-view.ts";

/**
 * The cluster as the scheduler sees it: the state that the feed told, with the scheduler's own decisions that the feed
 * has not told yet. A decision costs as much as the number of nodes that changed since the last one, and never a pass
 * over all objects.
 */
export interface ClusterView {
  /** `applyNode` and `applyPod` return the kinds of changes by which waiting pods may fit. */
  applyNode(event: ResourceEvent): ClusterChange[];
  applyPod(event: ResourceEvent): ClusterChange[];
  applyService(event: ResourceEvent): void;
  /** Counts the pod as placed on the node from now on, whatever older news the feed tells. */
  assume(pod: PodInfo, nodeName: string): void;
  isAssumed(key: string): boolean;
  /** Takes back an assumption that failed. The pod is where the store has it. */
  forget(key: string): void;
  /** Records the node on which room is being made for the pod; "" when that has ended. */
  nominate(pod: PodInfo, nodeName: string): void;
  nominated(): readonly PodInfo[];
  current(): Cluster & { readonly devices: PendingDevices };
}

/** A view without nodes and pods, until it is told of them. */
export function createClusterView(reader: ResourceReader): ClusterView {
  /** The nodes by name, without their pods. */
  const nodes = new Map<string, NodeInfo>();
  /** The pods that take room, by key and by node. */
  const placed = new Map<string, PodInfo>();
  const podsOn = new Map<string, Map<string, PodInfo>>();
  const nominated = new Map<string, PodInfo>();
  const assumed = new Set<string>();
  /** The nodes with their pods, until something on them changes. */
  const full = new Map<string, NodeInfo>();
  let sorted: readonly NodeInfo[] | undefined;
  const storage = createStorageView(reader);
  const devices = createDeviceView(reader);
  const kin = createKinSelectors(reader);
  const namespaceLabels = (name: string) => {
    return reader.get({ resource: "namespaces", namespace: "", name })?.metadata.labels ?? {};
  };

  const touch = (nodeName: string) => {
    full.delete(nodeName);
    sorted = undefined;
  };
  const take = (key: string) => {
    const pod = placed.get(key);
    if (pod === undefined) return;
    placed.delete(key);
    const others = podsOn.get(pod.nodeName);
    others?.delete(key);
    if (others?.size === 0) podsOn.delete(pod.nodeName);
    touch(pod.nodeName);
  };
  const place = (pod: PodInfo) => {
    take(pod.key);
    placed.set(pod.key, pod);
    const others = podsOn.get(pod.nodeName) ?? new Map<string, PodInfo>();
    podsOn.set(pod.nodeName, others.set(pod.key, pod));
    touch(pod.nodeName);
  };
  const settle = (pod: PodInfo) => {
    if (pod.nodeName === "" || pod.isTerminal) take(pod.key);
    else place(pod);
    if (pod.nodeName === "" && pod.nominatedNode !== "" && !pod.isTerminating) nominated.set(pod.key, pod);
    else nominated.delete(pod.key);
  };
  const withItsPods = (node: NodeInfo) => {
    const known = full.get(node.name) ?? withPods(node, [...(podsOn.get(node.name)?.values() ?? [])]);
    full.set(node.name, known);
    return known;
  };

  return {
    applyNode({ type, object }) {
      const { name = "" } = object.metadata;
      const before = nodes.get(name);
      if (type === "DELETED") {
        nodes.delete(name);
        touch(name);
        return before === undefined ? [] : ["node"];
      }
      const node = nodeInfoOf(typed("Node", object), []);
      const isSame = before !== undefined && digestOf(before) === digestOf(node);
      if (isSame && hasSameImages(before, node)) return [];
      nodes.set(name, node);
      touch(name);
      return isSame ? [] : ["node"];
    },
    applyPod({ type, object }) {
      const pod = podInfoOf(typed("Pod", object));
      const before = placed.get(pod.key);
      if (type === "DELETED") {
        assumed.delete(pod.key);
        nominated.delete(pod.key);
        take(pod.key);
        return before === undefined ? [] : ["pod-gone"];
      }
      if (pod.nodeName === "" && assumed.has(pod.key)) return [];
      const wasAssumed = assumed.delete(pod.key);
      settle(pod);
      return comparePods(wasAssumed ? undefined : before, pod);
    },
    applyService: kin.applyService,
    assume(pod, nodeName) {
      assumed.add(pod.key);
      nominated.delete(pod.key);
      place({ ...pod, nodeName });
    },
    isAssumed: (key) => assumed.has(key),
    forget(key) {
      if (!assumed.delete(key)) return;
      take(key);
      const object = readPod(reader, key);
      if (object !== undefined) settle(podInfoOf(typed("Pod", object)));
    },
    nominate(pod, nodeName) {
      if (nodeName === "") nominated.delete(pod.key);
      else nominated.set(pod.key, { ...pod, nominatedNode: nodeName });
    },
    nominated: () => [...nominated.values()],
    current() {
      sorted ??= [...nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(withItsPods);
      return { nodes: sorted, storage, devices, namespaceLabels, selectorOfKin: kin.selectorOf };
    },
  };
}

function readPod(reader: ResourceReader, key: string): KubeObject | undefined {
  const [namespace = "", name = ""] = key.split("/");
  return reader.get({ resource: "pods", namespace, name });
}

/** Images decide among nodes that fit, and no pod waits for one. */
function hasSameImages({ images: before }: NodeInfo, { images }: NodeInfo): boolean {
  return before.size === images.size && [...images].every(([name, bytes]) => before.get(name) === bytes);
}

/** The fields of a node on which it depends which pods fit, as text. A heartbeat changes none of them. */
function digestOf({ labels, taints, isUnschedulable, allocatable, declaredFeatures }: NodeInfo): string {
  const amounts = [...allocatable].map(([name, amount]) => `${name}=${amount}`);
  return JSON.stringify([labels, taints, isUnschedulable, amounts, declaredFeatures]);
}

function comparePods(before: PodInfo | undefined, pod: PodInfo): ClusterChange[] {
  const isThere = pod.nodeName !== "" && !pod.isTerminal;
  if (!isThere) return before === undefined ? [] : ["pod-gone"];
  if (before === undefined) return ["pod-changed"];
  const takesLess = [...before.requests].some(([name, amount]) => (pod.requests.get(name) ?? 0n) < amount);
  const isOther =
    before.isTerminating !== pod.isTerminating || JSON.stringify(before.labels) !== JSON.stringify(pod.labels);
  return [...(takesLess ? (["pod-gone"] as const) : []), ...(isOther ? (["pod-changed"] as const) : [])];
}
