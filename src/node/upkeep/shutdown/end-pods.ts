import type { Pod } from "../../../api/gen/types.ts";
import { podReference, podUid } from "../../../api/pods.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { endsInTime } from "../../../base/time-limit.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { PodState, StatusOverride, WorkerUpdate } from "../../pods/workers/pod-state.ts";
import type { PodWorkers } from "../../pods/workers/pod-workers.ts";
import { groupByPeriod, type ShutdownPeriod } from "./shutdown-periods.ts";

export interface EndPodsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly timeline: Pick<Timeline, "record">;
  readonly workers: Pick<PodWorkers, "state" | "states" | "update" | "untilFinished">;
}

const MESSAGE = "Pod was terminated in response to imminent node shutdown.";

const ANNOUNCED = "systemd-logind announced that the machine shuts down";
const TIMED_OUT = "The time of the pod's group is over, and it has not given everything back; the shutdown goes on";

const VERDICT: StatusOverride = { phase: "Failed", reason: "Terminated", message: MESSAGE, disruption: MESSAGE };

/** The machine's shutdown. */
interface Shutdown {
  readonly periods: readonly ShutdownPeriod[];
  /** When it was announced, in milliseconds since the epoch. */
  readonly announcedAt: number;
}

/**
 * Ends every pod, group by group. The next group's turn comes when all pods of this group have given back what they
 * held, including their volumes, or when the group's time is over. Volumes are included because the driver that
 * unmounts them may be a pod of a later group. Rejects with AbortedError when the signal fires; pods that were told to
 * end by then still end.
 */
export async function endPods(
  { clock, log, timeline, workers }: EndPodsDeps,
  { periods, announcedAt }: Shutdown,
  signal: AbortSignal,
): Promise<void> {
  for (const { period, pods } of groupByPeriod(periods, listActive(workers))) {
    if (pods.length === 0) continue;
    const { priority, seconds: gracePeriod } = period;
    for (const pod of pods) {
      const message = `The machine shuts down: the pods of priority ${priority} and above have ${gracePeriod} s to end`;
      const announced = { reason: "ShutdownAnnounced", message: ANNOUNCED, at: announcedAt };
      const decision = { type: "Warning", reason: "NodeShutdown", message, causes: [announced] } as const;
      timeline.record(podReference(pod), decision);
      workers.update(killOf(pod, workers.state(podUid(pod)), gracePeriod));
    }
    log.info("Shutdown manager is ending the pods of a group", { priority, gracePeriod, pods: pods.map(nameOf) });
    const limit = { timeoutMs: gracePeriod * SECOND, signal };
    const isDone = await endsInTime(clock, limit, async (inTime) => {
      await workers.untilFinished(pods.map(podUid), inTime);
    });
    if (isDone) {
      log.info("Done waiting for all pods in group to terminate", { priority, gracePeriod });
      continue;
    }
    log.warn("Shutdown manager pod killing time out", { priority, gracePeriod });
    for (const pod of pods.filter((one) => workers.state(podUid(one)) !== undefined)) {
      timeline.record(podReference(pod), { type: "Warning", reason: "ShutdownTimeOut", message: TIMED_OUT });
    }
  }
}

function listActive({ states }: EndPodsDeps["workers"]): Pod[] {
  return [...states().values()].flatMap(({ phase, subject }) => {
    const isActive = phase === "syncing" || phase === "terminating";
    return isActive && subject.kind === "pod" ? [subject.pod] : [];
  });
}

function killOf(pod: Pod, state: PodState | undefined, limitSeconds: number): WorkerUpdate {
  const own = pod.spec?.terminationGracePeriodSeconds ?? limitSeconds;
  const gracePeriodSeconds = Math.min(own, limitSeconds);
  // A pod that is already being evicted keeps the reason of its eviction.
  const isJudged = state?.phase === "terminating" && state.statusOverride !== undefined;
  const kill = { gracePeriodSeconds, ...(!isJudged && { statusOverride: VERDICT }) };
  return { type: "kill", subject: { kind: "pod", pod }, kill };
}

function nameOf(pod: Pod): string {
  const { namespace, name } = podReference(pod);
  return `${namespace}/${name}`;
}
