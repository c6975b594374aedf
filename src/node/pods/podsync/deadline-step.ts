import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { isTerminalPhase } from "../../../api/pods.ts";
import { parseTime } from "../../../base/clock.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { StatusOverride } from "../workers/pod-state.ts";
import type { Step, SyncingRun } from "./sync-run.ts";

/** When the pod's active deadline is over, milliseconds since the epoch; undefined for a pod that has none. */
export function deadlineOf(pod: Pod, status: PodStatus | undefined): number | undefined {
  const seconds = pod.spec?.activeDeadlineSeconds;
  const startedAt = parseTime(status?.startTime);
  return seconds === undefined || startedAt === undefined ? undefined : startedAt + seconds * 1000;
}

/** The status of a pod whose active deadline is over. */
export function deadlineOverride(pod: Pod, status: PodStatus | undefined, now: number): StatusOverride | undefined {
  const deadline = deadlineOf(pod, status);
  if (deadline === undefined || deadline > now) return undefined;
  const message = "Pod was active on the node longer than the specified deadline";
  return { phase: "Failed", reason: "DeadlineExceeded", message };
}

/** The step that ends a sync where the published status is final; a pod whose deadline is over has an event of it. */
export function createEndStep({ timeline }: { timeline: Timeline }): Step<SyncingRun> {
  return (run) => {
    const { reference, status, override } = run;
    if (!isTerminalPhase(status?.phase)) return;
    if (override !== undefined) {
      const { reason, message } = override;
      timeline.record(reference, { type: "Normal", reason, message });
    }
    run.result = { terminal: true };
  };
}
