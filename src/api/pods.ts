import type { Container, Pod, PodCondition } from "./gen/types.ts";
import { CONFIG_MIRROR_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from "./well-known.ts";

export type PodSource = "file" | "http" | "api";
export type ContainerKind = "init" | "main" | "ephemeral";

/** The names of a pod for logs, metrics and the runtime. */
export interface PodReference {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

/** Pods of at least this priority are critical to the node or the cluster. */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/** The names of the pod; empty strings for those that its metadata lacks. */
export function podReference(pod: Pod): PodReference {
  const { uid = "", name = "", namespace = "" } = pod.metadata ?? {};
  return { uid, name, namespace };
}

/** `name_namespace`: unique on a node at any one moment, but not over time (that is the UID). */
export function podFullName(pod: Pod): string {
  const { name, namespace } = podReference(pod);
  return `${name}_${namespace}`;
}

/** Empty for a pod that no source has given a UID. */
export function podUid(pod: Pod): string {
  return podReference(pod).uid;
}

/** Undefined for a pod that no source has marked yet. */
export function sourceOf(pod: Pod): PodSource | undefined {
  const source = pod.metadata?.annotations?.[CONFIG_SOURCE_ANNOTATION];
  return source === "file" || source === "http" || source === "api" ? source : undefined;
}

/** True for a pod from a file or a URL and not from the API server; this node alone decides about it. */
export function isStaticPod(pod: Pod): boolean {
  const source = sourceOf(pod);
  return source !== undefined && source !== "api";
}

/** True for the API server's read-only image of a static pod, which is reported and never run. */
export function isMirrorPod(pod: Pod): boolean {
  return pod.metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined;
}

/** The UID by which the node knows the pod: of a mirror pod its static pod's, "" where the metadata lacks it. */
export function nodeUidOf(pod: Pod): string {
  return pod.metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION] ?? pod.metadata?.uid ?? "";
}

/** True for static, mirror and system-priority pods. They are admitted at others' expense and evicted last. */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec?.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** True for a pod that shares the node's network namespace, and so has the node's addresses. */
export function isHostNetworkPod(pod: Pod): boolean {
  return pod.spec?.hostNetwork === true;
}

/** Succeeded and Failed are final: a pod never leaves them. */
export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

/**
 * True for a sidecar: an init container that keeps running beside those after it. Only meaningful for init containers.
 */
export function isRestartableInitContainer(container: Container): boolean {
  return container.restartPolicy === "Always";
}

/** Every container of the pod: init, then main, then ephemeral, each in the pod's order. */
export function podContainers(pod: Pod): Array<{ container: Container; kind: ContainerKind }> {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  return [
    ...initContainers.map((container) => ({ container, kind: "init" as const })),
    ...containers.map((container) => ({ container, kind: "main" as const })),
    ...ephemeralContainers.map((container) => ({ container, kind: "ephemeral" as const })),
  ];
}

/** The pod's condition Ready, which its readiness probes and gates decide; undefined before the first verdict. */
export function readyCondition({ status }: Pod): PodCondition | undefined {
  return (status?.conditions ?? []).find(({ type }) => type === "Ready");
}

/** True when the pod's condition Ready is. */
export function isPodReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === "True";
}
