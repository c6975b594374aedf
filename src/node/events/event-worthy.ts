import type { Decision } from "../../base/timeline.ts";

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
]);

/** Whether what was recorded about a pod is told to the API server as an event. */
export function isEventWorthy({ reason }: Pick<Decision, "reason">): boolean {
  return !INTERNAL_REASONS.has(reason);
}
