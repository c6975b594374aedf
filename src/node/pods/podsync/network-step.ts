import { isHostNetworkPod } from "../../../api/pods.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Timeline } from "../../../base/timeline.ts";
import { RetryError } from "../workers/pod-syncer.ts";
import type { SyncingRun } from "./sync-run.ts";

interface NetworkStepDeps {
  clock: Pick<Clock, "now">;
  timeline: Timeline;
  /** Why pods cannot have networks; undefined while they can. */
  networkError(): string | undefined;
}

/** Upstream looks again after 1 s while the network is not ready (pkg/kubelet/pod_workers.go). */
const NETWORK_RETRY_MS = 1_000;

/** The step of a sync that waits for the network; a pod that shares the node's network needs no other. */
export function createNetworkStep(deps: NetworkStepDeps): (run: SyncingRun) => void {
  return ({ pod, reference }) => {
    const error = deps.networkError();
    if (error === undefined || isHostNetworkPod(pod)) return;
    const message = `network is not ready: ${error}`;
    deps.timeline.record(reference, { type: "Warning", reason: "NetworkNotReady", message });
    throw new RetryError(message, deps.clock.now() + NETWORK_RETRY_MS);
  };
}
