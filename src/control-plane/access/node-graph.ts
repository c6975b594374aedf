import { type KubeObject, typed } from "../../api/object.ts";
import type { ResourceEvent, ResourceFeed } from "../ports/resources.ts";
import { podDependencies, volumeSecrets } from "./pod-dependencies.ts";

const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

/** The kinds of objects that are related to a node by the pods that are bound to it. */
export type Related =
  | "configmap"
  | "persistentvolume"
  | "persistentvolumeclaim"
  | "pod"
  | "resourceclaim"
  | "secret"
  | "serviceaccount";

/** The kinds of objects that name their node themselves. */
export type OfOneNode = "podcertificaterequest" | "resourceslice" | "volumeattachment";

/** Knows the objects that a node's pods need. */
export interface NodeGraph {
  isRelated(node: string, kind: Related | OfOneNode, namespace: string, name: string): boolean;
  close(): void;
}

interface BoundPod {
  readonly node: string;
  /** The keys of the objects that the pod refers to, its own key first. */
  readonly keys: readonly string[];
}

/**
 * Kept up to date by the feed. For every node it counts the references to each object from the pods bound to it, so
 * that a question is a lookup and a change costs as much as the pod has references. Claims lead on to volumes, and
 * volumes to secrets.
 */
export function createNodeGraph(feed: ResourceFeed): NodeGraph {
  const pods = new Map<string, BoundPod>();
  const counts = new Map<string, Map<string, number>>();
  const claimOfVolume = new Map<string, string>();
  const volumesOfSecret = new Map<string, Set<string>>();
  const nodeOfAttachment = new Map<string, string>();
  const nodeOfSlice = new Map<string, string>();
  const nodeOfPodRequest = new Map<string, string>();

  const stops = [
    feed.follow("pods", (event) => {
      const key = objectKey("pod", event.object);
      const bound = event.type === "DELETED" ? undefined : boundPod(event.object);
      const known = pods.get(key);
      if (known !== undefined) count(counts, known, -1);
      if (bound === undefined) pods.delete(key);
      else {
        pods.set(key, bound);
        count(counts, bound, 1);
      }
    }),
    feed.follow("persistentvolumes", ({ type, object, previous }) => {
      const name = object.metadata.name ?? "";
      for (const secret of secretsOf(previous)) removeFrom(volumesOfSecret, secret, name);
      claimOfVolume.delete(name);
      const claim = type === "DELETED" ? undefined : claimOf(object);
      if (claim === undefined) return;
      claimOfVolume.set(name, claim);
      for (const secret of secretsOf(object)) addTo(volumesOfSecret, secret, name);
    }),
    feed.follow("volumeattachments.storage.k8s.io", ({ type, object }: ResourceEvent) => {
      const name = object.metadata.name ?? "";
      if (type === "DELETED") nodeOfAttachment.delete(name);
      else nodeOfAttachment.set(name, typed("VolumeAttachment", object).spec.nodeName);
    }),
    feed.follow("resourceslices.resource.k8s.io", ({ type, object }: ResourceEvent) => {
      const name = object.metadata.name ?? "";
      const { nodeName = "" } = typed("ResourceSlice", object).spec;
      if (type === "DELETED" || nodeName === "") nodeOfSlice.delete(name);
      else nodeOfSlice.set(name, nodeName);
    }),
    feed.follow("podcertificaterequests.certificates.k8s.io", ({ type, object }: ResourceEvent) => {
      const key = nameWithNamespace(object.metadata.namespace, object.metadata.name);
      if (type === "DELETED") nodeOfPodRequest.delete(key);
      else nodeOfPodRequest.set(key, typed("PodCertificateRequest", object).spec.nodeName);
    }),
  ];

  const refers = (node: string, key: string | undefined) => key !== undefined && counts.get(node)?.has(key) === true;
  const ownsVolume = (node: string, volume: string) => refers(node, claimOfVolume.get(volume));
  return {
    isRelated(node, kind, namespace, name) {
      if (kind === "volumeattachment") return nodeOfAttachment.get(name) === node;
      if (kind === "resourceslice") return nodeOfSlice.get(name) === node;
      if (kind === "podcertificaterequest") return nodeOfPodRequest.get(nameWithNamespace(namespace, name)) === node;
      if (kind === "persistentvolume") return ownsVolume(node, name);
      const key = relatedKey(kind, namespace, name);
      if (refers(node, key)) return true;
      if (kind !== "secret") return false;
      return [...(volumesOfSecret.get(key) ?? [])].some((volume) => ownsVolume(node, volume));
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}

const nameWithNamespace = (namespace = "", name = "") => `${namespace}/${name}`;
const relatedKey = (kind: Related, namespace: string, name: string) => `${kind} ${namespace} ${name}`;

function objectKey(kind: Related, { metadata: { namespace = "", name = "" } }: KubeObject): string {
  return relatedKey(kind, namespace, name);
}

function boundPod(object: KubeObject): BoundPod | undefined {
  const pod = typed("Pod", object);
  const { nodeName = "" } = pod.spec ?? {};
  if (nodeName === "") return undefined;
  const { namespace = "", annotations } = object.metadata;
  const own = objectKey("pod", object);
  // A mirror pod is written by the node itself, so its references give the node no access.
  if (annotations?.[MIRROR_ANNOTATION] !== undefined) return { node: nodeName, keys: [own] };
  const keys = podDependencies(pod).map(({ kind, name }) => relatedKey(kind, namespace, name));
  // One list is kept for every pod. Spread into a literal, it would take three times the memory.
  return { node: nodeName, keys: [own].concat(keys) };
}

function count(counts: Map<string, Map<string, number>>, { node, keys }: BoundPod, change: 1 | -1): void {
  const ofNode = counts.get(node) ?? new Map<string, number>();
  counts.set(node, ofNode);
  for (const key of keys) {
    const next = (ofNode.get(key) ?? 0) + change;
    if (next > 0) ofNode.set(key, next);
    else ofNode.delete(key);
  }
  if (ofNode.size === 0) counts.delete(node);
}

function claimOf(object: KubeObject): string | undefined {
  const { namespace = "", name = "" } = typed("PersistentVolume", object).spec?.claimRef ?? {};
  return name === "" ? undefined : relatedKey("persistentvolumeclaim", namespace, name);
}

function secretsOf(object: KubeObject | undefined): string[] {
  if (object === undefined) return [];
  return volumeSecrets(typed("PersistentVolume", object)).map(({ namespace, name }) => {
    return relatedKey("secret", namespace, name);
  });
}

function addTo(sets: Map<string, Set<string>>, key: string, member: string): void {
  const set = sets.get(key) ?? new Set<string>();
  sets.set(key, set.add(member));
}

function removeFrom(sets: Map<string, Set<string>>, key: string, member: string): void {
  const set = sets.get(key);
  set?.delete(member);
  if (set?.size === 0) sets.delete(key);
}
