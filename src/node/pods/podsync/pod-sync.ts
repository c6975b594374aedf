import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import type { Clock } from "../../../base/clock.ts";
import { throwJoined } from "../../../base/errors.ts";
import { emptyPodRuntimeStatus, type PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import type { PodVolumeSetUp } from "../../storage/volumes/pod-volumes.ts";
import type { PodProbes } from "../probes/pod-probes.ts";
import type { Subject } from "../workers/pod-state.ts";
import { type PodSyncer, referenceOf } from "../workers/pod-syncer.ts";
import { type CgroupStepsDeps, createCgroupSteps } from "./cgroup-steps.ts";
import { type ClaimStepsDeps, createClaimSteps } from "./claim-steps.ts";
import { createEndStep, deadlineOverride } from "./deadline-step.ts";
import { createNetworkStep } from "./network-step.ts";
import { planNextLook } from "./next-look.ts";
import { createReadySandboxes } from "./ready-sandboxes.ts";
import { createResizeSteps, type ResizeStepsDeps } from "./resize-steps.ts";
import { createRuntimeSteps, type RuntimeStepsDeps } from "./runtime-steps.ts";
import { createStartFailures } from "./start-failures.ts";
import { createStatusSteps, type StatusStepsDeps } from "./status-steps.ts";
import { type ReadPod, type Step, type SyncingRun, type SyncRun, takeSteps } from "./sync-run.ts";
import { createVolumeSteps, type VolumeStepsDeps, volumeRejection } from "./volume-steps.ts";

interface PodSyncDeps
  extends CgroupStepsDeps,
    ClaimStepsDeps,
    VolumeStepsDeps,
    RuntimeStepsDeps,
    StatusStepsDeps,
    Omit<ResizeStepsDeps, "clock"> {
  clock: Clock;
  cache: RuntimeStepsDeps["cache"] & { latest(uid: string): PodRuntimeStatus | undefined };
  statuses: StatusStepsDeps["statuses"] & {
    /** Nothing of the pod runs or is mounted any more: its status is final. */
    terminate(pod: Pod): void;
  };
  probes: StatusStepsDeps["probes"] & Pick<PodProbes, "subscribe">;
  networkError(): string | undefined;
}

/** The work that the workers run for a pod: three lists of steps in order (see `Step`). */
export function createPodSync(deps: PodSyncDeps): PodSyncer {
  const failures = createStartFailures();
  const sandboxes = createReadySandboxes(deps.clock);
  const { observeProbes, publishStatus } = createStatusSteps(deps, { failures, sandboxes });
  const { observeResize, noteResize } = createResizeSteps(deps);
  const { readRuntime, checkStopped, ...inRuntime } = createRuntimeSteps(deps, { failures, sandboxes, publishStatus });
  const { makeCgroup, releaseCgroup } = createCgroupSteps(deps);
  const { prepareClaims, unprepareClaims } = createClaimSteps(deps);
  const { setUpVolumes, tearDownVolumes, removeDirectories } = createVolumeSteps(deps);
  const awaitNetwork = createNetworkStep(deps);
  const endIfOver = createEndStep(deps);

  const checkDeadline = (run: SyncingRun): void => {
    run.override = deadlineOverride(run.pod, deps.statuses.get(run.reference.uid), deps.clock.now());
  };
  const makeCgroupAndVolumes = async (run: SyncingRun): Promise<void> => {
    run.volumes = await beside(setUpVolumes(run), makeCgroup(run));
  };
  const lookAgain = (run: SyncingRun): void => {
    run.result = planNextLook(run, failures.of(run.reference.uid));
  };

  const syncing: ReadonlyArray<Step<SyncingRun>> = [
    readRuntime,
    checkDeadline,
    observeProbes,
    observeResize,
    publishStatus,
    endIfOver,
    awaitNetwork,
    prepareClaims,
    makeCgroupAndVolumes,
    inRuntime.startContainers,
    noteResize,
    readRuntime,
    observeProbes,
    observeResize,
    publishStatus,
    endIfOver,
    lookAgain,
  ];

  /**
   * How the containers ended is published by the next work at once: told here as well, the API server would be told
   * twice. What drivers hold for the pod is given back before, because a pod that is told to be over loses its claims.
   */
  const terminating = (gracePeriodSeconds: number): ReadonlyArray<Step<SyncRun>> => [
    readRuntime,
    observeProbes,
    publishStatus,
    async (run) => await inRuntime.stopContainers(run, gracePeriodSeconds),
    readRuntime,
    checkStopped,
    unprepareClaims,
  ];

  const forgetFailures = ({ reference }: SyncRun) => failures.forget(reference.uid);
  const finishStatus = ({ pod }: SyncRun) => {
    if (pod !== undefined) deps.statuses.terminate(pod);
  };
  /** The cgroup goes after the volumes, because what a volume holds in memory is counted there. */
  const givingBack: ReadonlyArray<Step<SyncRun>> = [tearDownVolumes, releaseCgroup, finishStatus];

  const terminated = (deleted: boolean, beginsAnew: boolean): ReadonlyArray<Step<SyncRun>> => [
    readRuntime,
    observeProbes,
    publishStatus,
    forgetFailures,
    // Nothing runs any more, so that neither needs the other; both end before the next attempt may begin.
    async (run) =>
      await together([takeSteps(givingBack, run), ...(deleted ? [inRuntime.removeContainers(run, beginsAnew)] : [])]),
    // Where the logs stay, they are found by the directory if nobody wants the pod after all.
    ...(deleted && !beginsAnew ? [removeDirectories] : []),
  ];

  const report = (pod: Pod, phase: ReadPod["phase"]): void => {
    const reference = podReference(pod);
    const runtime = deps.cache.latest(reference.uid);
    if (runtime === undefined) return;
    const read: ReadPod = { reference, pod, phase, runtime };
    observeProbes(read);
    publishStatus(read);
  };

  // A change goes into the status at once, also while the pod's worker is busy.
  deps.probes.subscribe(({ pod, phase }) => report(pod, phase));

  const runOf = (subject: Subject, phase: ReadPod["phase"], signal: AbortSignal): SyncRun => {
    const reference = referenceOf(subject);
    const pod = subject.kind === "pod" ? subject.pod : undefined;
    return { reference, pod, phase, signal, runtime: emptyPodRuntimeStatus(reference, deps.clock.now()) };
  };

  return {
    async syncPod({ pod, signal }) {
      const run: SyncingRun = { ...runOf({ kind: "pod", pod }, "syncing", signal), pod };
      try {
        await takeSteps(syncing, run);
        return run.result ?? { terminal: false };
      } catch (error) {
        run.override = volumeRejection(error, run);
        if (run.override === undefined) throw error;
        observeProbes(run);
        publishStatus(run);
        return { terminal: true };
      }
    },
    reportPod: (pod) => report(pod, "syncing"),
    async syncTerminatingPod({ subject, signal, gracePeriodSeconds, statusOverride }) {
      const run = { ...runOf(subject, "terminating", signal), override: statusOverride };
      await takeSteps(terminating(gracePeriodSeconds), run);
    },
    async syncTerminatedPod({ subject, signal, deleted, beginsAnew = false }) {
      await takeSteps(terminated(deleted, beginsAnew), runOf(subject, "terminated", signal));
    },
  };
}

/** The set-up, once both have ended well; neither goes on after an error. */
async function beside(setUp: Promise<PodVolumeSetUp>, other: Promise<void>): Promise<PodVolumeSetUp> {
  const [volumes, end] = await Promise.allSettled([setUp, other]);
  if (volumes.status === "rejected") throw volumes.reason;
  if (end.status === "fulfilled") return volumes.value;
  await Promise.allSettled([volumes.value.finished]);
  throw end.reason;
}

/** Waits for all of them, and throws what went wrong with any. */
async function together(works: ReadonlyArray<Promise<unknown>>): Promise<void> {
  const ends = await Promise.allSettled(works);
  throwJoined(
    ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])),
    "cleaning up after the pod",
  );
}
