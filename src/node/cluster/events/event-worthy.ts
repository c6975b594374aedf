import type { Decision } from "../../../base/timeline.ts";

/**
 * Decisions that stay on the node: `nodelet status` shows them, and the API server is not told. Upstream logs these and
 * makes no event of them, and each of their causes has an event of its own.
 */
const INTERNAL_REASONS: ReadonlySet<string> = new Set([
  // The removal of a dead container is tried again, and the failure does no harm.
  "FailedRemoval",
  // The step that failed has recorded its own event (FailedMount, FailedCreatePodSandBox, Failed, NetworkNotReady);
  // upstream stopped repeating it as an event in 1.9 (pkg/kubelet/pod_workers.go).
  "FailedSync",
  // The ranking compares a pod with the pods of other tenants, which must not be shown. The Evicted event that follows
  // says why the pod was evicted.
  "EvictionRank",
  // The verdict of several probes in a row. Each probe that failed has recorded its own event.
  "ProbeVerdict",
  // How much memory a pod had when its container ended: a figure for who looks after the node.
  "MemoryPeak",
  // What the pod's status or its object tells already.
  "PodAdded",
  "PodDeletionRequested",
  "PodRemoved",
  "PodReady",
  "PodNotReady",
  "PodSucceeded",
  "PodFailed",
  "Exited",
  // Steps of the start that went well.
  "PodAdmitted",
  "AdmissionWaits",
  "CgroupMade",
  "ClaimsReady",
  "SandboxStarted",
  "VolumesReady",
  "PostStartHookDone",
  // What the waits between starts come to; BackOff is their event.
  "Restarting",
  // Whom a pod makes room for. Its victims have events of their own, and other tenants must not learn of them.
  "MakingRoom",
  // The machine's shutdown is an event of the node, and the pod's status tells it.
  "NodeShutdown",
  "ShutdownTimeOut",
]);

/** Tells whether a decision recorded about a pod is sent to the API server as an event. */
export function isEventWorthy({ reason }: Pick<Decision, "reason">): boolean {
  return !INTERNAL_REASONS.has(reason);
}

/**
 * The output or answer of a hook may hold secrets, and many people read events. The event therefore tells only that the
 * hook failed, as upstream has it (pkg/kubelet/kuberuntime/kuberuntime_container.go). The node's own records keep
 * everything.
 */
const BARE_MESSAGES: ReadonlyMap<string, string> = new Map([
  ["FailedPostStartHook", "PostStartHook failed"],
  ["FailedPreStopHook", "PreStopHook failed"],
]);

/** Returns the message of a record's event. */
export function eventMessage({ reason, message }: Pick<Decision, "reason" | "message">): string {
  return BARE_MESSAGES.get(reason) ?? message;
}
