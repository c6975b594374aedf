import type { Decision } from "../../../base/timeline.ts";

/**
 * Decisions that stay on the node: `nodelet status` shows them, the API server is not told. Upstream logs these and makes
 * no event of them, and each of their causes has one of its own.
 */
const INTERNAL_REASONS: ReadonlySet<string> = new Set([
  // A dead container that could not be removed is tried again, and harms nobody.
  "FailedRemoval",
  // The step that failed has said so (FailedMount, FailedCreatePodSandBox, Failed, NetworkNotReady); upstream stopped
  // repeating it as an event in 1.9 (pkg/kubelet/pod_workers.go).
  "FailedSync",
  // Against whom a pod was evicted: the Evicted that follows says why, and other tenants' pods are nobody else's business.
  "EvictionRank",
  // What a row of probes came to; each of them that failed has told so itself.
  "ProbeVerdict",
]);

/** Whether what was recorded about a pod is told to the API server as an event. */
export function isEventWorthy({ reason }: Pick<Decision, "reason">): boolean {
  return !INTERNAL_REASONS.has(reason);
}

/**
 * What a hook prints or is answered may hold secrets, and events are read by many: of these nothing but the fact goes out,
 * as upstream has it (pkg/kubelet/kuberuntime/kuberuntime_container.go). The node's own records keep it all.
 */
const BARE_MESSAGES: ReadonlyMap<string, string> = new Map([
  ["FailedPostStartHook", "PostStartHook failed"],
  ["FailedPreStopHook", "PreStopHook failed"],
]);

/** The message that a record's event has. */
export function eventMessage({ reason, message }: Pick<Decision, "reason" | "message">): string {
  return BARE_MESSAGES.get(reason) ?? message;
}
