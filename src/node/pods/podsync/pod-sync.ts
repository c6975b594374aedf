import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { isHostNetworkPod, isTerminalPhase, type PodReference, podReference } from "../../../api/pods.ts";
import type { Clock } from "../../../base/clock.ts";
import { parseTime } from "../../../base/clock.ts";
import { throwJoined } from "../../../base/errors.ts";
import type { PodRuntime } from "../../runtime/pod-runtime/pod-runtime.ts";
import type { StartFailure } from "../../runtime/pod-runtime/start-failure.ts";
import { hasRunningContainer, type PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import type { PodVolumeSetUp } from "../../storage/volumes/pod-volumes.ts";
import { VolumeError } from "../../storage/volumes/volume-error.ts";
import type { PodProbes } from "../probes/pod-probes.ts";
import { computePodStatus } from "../status/compute-pod-status.ts";
import type { PodStatusInput } from "../status/pod-status-input.ts";
import type { StatusOverride } from "../workers/pod-state.ts";
import {
  IncompleteSyncError,
  type PodSyncer,
  RetryError,
  referenceOf,
  type SyncResult,
  type SyncWork,
} from "../workers/pod-syncer.ts";
import { type CgroupStepDeps, createCgroupStep, releasedPodOf } from "./cgroup-step.ts";
import { createStartFailures } from "./start-failures.ts";
import { createVolumeStep, type VolumeStepDeps } from "./volume-step.ts";

interface PodSyncDeps extends CgroupStepDeps {
  clock: Clock;
  runtime: PodRuntime;
  /** What was last read of the pod; see `PodCache` for `fresh` and `invalidate`. */
  cache: {
    fresh(pod: PodReference, signal: AbortSignal): Promise<PodRuntimeStatus>;
    invalidate(uid: string): void;
    latest(uid: string): PodRuntimeStatus | undefined;
  };
  /** Reads the pod from the runtime into the cache. */
  refresh(pod: PodReference): Promise<void>;
  statuses: {
    get(uid: string): PodStatus | undefined;
    /** `mayRun`: something of the pod may run still. */
    set(pod: Pod, status: PodStatus, options: { mayRun: boolean }): void;
    /** Nothing of the pod runs or is mounted any more: its status is final. */
    terminate(pod: Pod): void;
  };
  /** They follow what is read of the pod, and what they find goes into its status. */
  probes: Pick<PodProbes, "observe" | "verdictOf" | "subscribe">;
  volumes: VolumeStepDeps["volumes"] & { tearDown(uid: string, signal: AbortSignal): Promise<void> };
  directories: VolumeStepDeps["directories"] & { remove(uid: string): Promise<void> };
  networkError(): string | undefined;
  hostIps(): readonly string[];
  runtimeName(): string;
  /** Of the pod's runtime handler. Default: it does not. */
  supportsRecursiveReadOnly?(pod: Pod): boolean;
}

/** Upstream looks again after 1 s while the network is not ready (pkg/kubelet/pod_workers.go). */
const NETWORK_RETRY_MS = 1_000;

/**
 * What the workers run for a pod. Each work is a list of steps in order; a step that cannot go on throws, and the next
 * attempt begins at the first step again, so every step may be repeated.
 */
export function createPodSync(deps: PodSyncDeps): PodSyncer {
  const failures = createStartFailures();
  const setUpVolumes = createVolumeStep(deps);
  const makeCgroup = createCgroupStep(deps);

  const publish = (pod: Pod, runtime: PodRuntimeStatus, more: PublishOptions): PodStatus => {
    const { uid } = podReference(pod);
    const previous = deps.statuses.get(uid);
    const { containers } = runtime;
    deps.probes.observe(pod, { phase: more.workerPhase, containers, told: previous ?? pod.status });
    const status = computePodStatus({
      pod,
      runtime,
      previous,
      readiness: deps.probes.verdictOf,
      waiting: failures.of(uid),
      hostIps: deps.hostIps(),
      now: deps.clock.now(),
      runtimeName: deps.runtimeName(),
      supportsRecursiveReadOnly: deps.supportsRecursiveReadOnly?.(pod),
      ...more,
    });
    deps.statuses.set(pod, status, { mayRun: more.workerPhase !== "terminated" });
    return status;
  };

  /** Brackets a change of the pod in the runtime: whatever comes of it, what was known before is out of date. */
  const changing = async <T>(pod: PodReference, change: () => Promise<T>): Promise<T> => {
    deps.cache.invalidate(pod.uid);
    try {
      return await change();
    } finally {
      deps.cache.invalidate(pod.uid);
      await deps.refresh(pod);
    }
  };

  const gateNetwork = (pod: Pod) => {
    const error = deps.networkError();
    if (error === undefined || isHostNetworkPod(pod)) return;
    const message = `network is not ready: ${error}`;
    deps.timeline.record(podReference(pod), { type: "Warning", reason: "NetworkNotReady", message });
    throw new RetryError(message, deps.clock.now() + NETWORK_RETRY_MS);
  };

  const applyManifest = async (pod: Pod, runtime: PodRuntimeStatus, work: SyncWork): Promise<void> => {
    const reference = podReference(pod);
    const volumes = await beside(setUpVolumes(pod, work.signal), makeCgroup(pod, runtime, work.signal));
    let changed = false;
    const beforeChange = () => {
      changed = true;
      deps.cache.invalidate(reference.uid);
    };
    try {
      const outcome = await deps.runtime.sync(pod, runtime, { volumes, signal: work.signal, beforeChange });
      failures.set(reference.uid, outcome.failures);
      await volumes.finished;
    } finally {
      // Whatever has failed beside it, the next sync must find nothing of this one at work.
      await Promise.allSettled([volumes.finished]);
      if (changed) {
        deps.cache.invalidate(reference.uid);
        await deps.refresh(reference);
      }
    }
  };

  // At once, whatever the pod's worker is busy with.
  deps.probes.subscribe(({ pod, phase }) => {
    const runtime = deps.cache.latest(podReference(pod).uid);
    if (runtime !== undefined) publish(pod, runtime, { workerPhase: phase });
  });

  return {
    async syncPod(work) {
      const { pod, signal } = work;
      const reference = podReference(pod);
      const before = await deps.cache.fresh(reference, signal);
      const override = deadlineOverride(pod, deps.statuses.get(reference.uid), deps.clock.now());
      const status = publish(pod, before, { workerPhase: "syncing", override });
      if (isTerminalPhase(status.phase)) {
        if (override !== undefined) {
          const { reason, message } = override;
          deps.timeline.record(reference, { type: "Normal", reason, message });
        }
        return { terminal: true };
      }
      gateNetwork(pod);
      try {
        await applyManifest(pod, before, work);
      } catch (error) {
        const rejection = error instanceof VolumeError ? error.rejection : undefined;
        if (rejection === undefined || before.containers.length > 0) throw error;
        const { reason, message } = rejection;
        const override = { phase: "Failed", reason, message: `Pod was rejected: ${message}` } as const;
        publish(pod, before, { workerPhase: "syncing", override });
        return { terminal: true };
      }
      const after = publish(pod, await deps.cache.fresh(reference, signal), { workerPhase: "syncing" });
      if (isTerminalPhase(after.phase)) return { terminal: true };
      return nextLook(pod, after, failures.of(reference.uid));
    },

    reportPod(pod) {
      const runtime = deps.cache.latest(podReference(pod).uid);
      if (runtime !== undefined) publish(pod, runtime, { workerPhase: "syncing" });
    },

    async syncTerminatingPod(work) {
      const { subject, signal } = work;
      const reference = referenceOf(subject);
      const pod = subject.kind === "pod" ? subject.pod : undefined;
      const runtime = await deps.cache.fresh(reference, signal);
      if (pod !== undefined) publish(pod, runtime, { workerPhase: "terminating", override: work.statusOverride });
      const gracePeriodSeconds = work.gracePeriodSeconds;
      await changing(reference, async () => await deps.runtime.stop(pod, runtime, { gracePeriodSeconds, signal }));
      const stopped = await deps.cache.fresh(reference, signal);
      // How they ended is published by what follows at once: told here as well, the API would be told twice.
      if (hasRunningContainer(stopped)) throw new Error("containers of the pod still run after they were stopped");
    },

    async syncTerminatedPod(work) {
      const { subject, signal } = work;
      const reference = referenceOf(subject);
      const runtime = await deps.cache.fresh(reference, signal);
      if (subject.kind === "pod") publish(subject.pod, runtime, { workerPhase: "terminated" });
      failures.forget(reference.uid);
      const giveBack = async () => {
        await deps.volumes.tearDown(reference.uid, signal);
        // After them: what a volume holds in memory is counted there.
        await deps.cgroups?.release(releasedPodOf(subject), signal);
        if (subject.kind === "pod") deps.statuses.terminate(subject.pod);
      };
      const remove = async () => {
        if (!work.deleted) return;
        await changing(reference, async () => await deps.runtime.remove(runtime, signal));
      };
      // Nothing runs any more, so that neither needs the other; both end before the next attempt may begin.
      const ends = await Promise.allSettled([giveBack(), remove()]);
      throwJoined(
        ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])),
        "cleaning up after the pod",
      );
      if (!work.deleted) return;
      await deps.directories.remove(reference.uid);
    },
  };
}

/** What the first gives, once both have ended well; neither goes on after an error. */
async function beside(setUp: Promise<PodVolumeSetUp>, other: Promise<void>): Promise<PodVolumeSetUp> {
  const [volumes, end] = await Promise.allSettled([setUp, other]);
  if (volumes.status === "rejected") throw volumes.reason;
  if (end.status === "fulfilled") return volumes.value;
  await Promise.allSettled([volumes.value.finished]);
  throw end.reason;
}

type PublishOptions = Pick<PodStatusInput, "workerPhase" | "override">;

function deadlineOf(pod: Pod, status: PodStatus | undefined): number | undefined {
  const seconds = pod.spec?.activeDeadlineSeconds;
  const startedAt = parseTime(status?.startTime);
  return seconds === undefined || startedAt === undefined ? undefined : startedAt + seconds * 1000;
}

function deadlineOverride(pod: Pod, status: PodStatus | undefined, now: number): StatusOverride | undefined {
  const deadline = deadlineOf(pod, status);
  if (deadline === undefined || deadline > now) return undefined;
  const message = "Pod was active on the node longer than the specified deadline";
  return { phase: "Failed", reason: "DeadlineExceeded", message };
}

/** When to look again: at a deadline, or when a container may be tried again; a failure without a time is an error. */
function nextLook(pod: Pod, status: PodStatus, failures: ReadonlyMap<string, StartFailure>): SyncResult {
  const times = [...failures.values()].map(({ retryAt }) => retryAt).concat(deadlineOf(pod, status));
  const known = times.filter((time) => time !== undefined);
  const retryAt = known.length === 0 ? undefined : Math.min(...known);
  const untimed = [...failures].find(([, failure]) => failure.retryAt === undefined);
  if (untimed !== undefined) {
    const [name, { reason, message }] = untimed;
    const words = `failed to start container "${name}" with ${reason}: ${message}`;
    // The other containers' times stand, whatever the back-off of this one.
    throw retryAt === undefined ? new Error(words) : new IncompleteSyncError(words, retryAt);
  }
  return retryAt === undefined ? { terminal: false } : { terminal: false, retryAt };
}
