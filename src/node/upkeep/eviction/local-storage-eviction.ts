import type { Pod } from "../../../api/gen/types.ts";
import { podReference, podUid } from "../../../api/pods.ts";
import { isAbort, sleep } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { repeat } from "../../../base/interval.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import { runWithTasks, type Tasks } from "../../../base/tasks.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { PodState } from "../../pods/workers/pod-state.ts";
import type { PodEvictor } from "./evict-pod.ts";
import { type ExceededLimit, findExceededLimit } from "./judge-local-storage.ts";
import { type LocalStorageLimits, readLocalStorageLimits } from "./local-storage-limits.ts";
import type { PodStorageMeter } from "./measure-pod-storage.ts";

/** Evicts pods that use more of the node's disk than they may. */
interface LocalStorageEviction {
  /** Until the signal fires; returns when nothing is being measured any more. */
  run(signal: AbortSignal): Promise<void>;
}

interface LocalStorageEvictionDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly timeline: Pick<Timeline, "record">;
  readonly workers: {
    state(uid: string): PodState | undefined;
    states(): ReadonlyMap<string, PodState>;
  };
  /** For one pod, as long as it runs. */
  createMeter(): PodStorageMeter;
  /** Whether the runtime keeps images or containers on another disk than that of the pods' directories; see `DiskLayout`. */
  readonly imageFs: { read(signal: AbortSignal): Promise<boolean> };
  readonly evict: PodEvictor;
}

interface LocalStorageEvictionOptions {
  /** Between two looks at a pod, if that is cheap. Default 10 s, as upstream's `evictionMonitoringPeriod`. */
  readonly monitoringPeriodMs?: number;
}

interface Verdict {
  readonly pod: Pod;
  readonly exceeded: ExceededLimit;
}

const MONITORING_PERIOD_MS = 10 * SECOND;
/** What upstream's evictions for limits give a pod to stop in. */
const GRACE_PERIOD_SECONDS = 1;
/** When it is said that a pod has not stopped. */
const STOP_TIMEOUT_MS = 10 * SECOND;
/** A pod of millions of files is looked at less often: measuring takes no more than a tenth of the time. */
const REST_PER_WORK = 9;

/**
 * Each pod that has limits is measured by a task of its own, so that a disk that does not answer delays nobody else; the
 * others cost nothing. A pod that exceeds a limit is evicted, by upstream's rules (`localStorageEviction` in
 * pkg/kubelet/eviction/eviction_manager.go). Nothing is kept that a restart could lose: the next agent measures again.
 */
export function createLocalStorageEviction(
  deps: LocalStorageEvictionDeps,
  { monitoringPeriodMs = MONITORING_PERIOD_MS }: LocalStorageEvictionOptions = {},
): LocalStorageEviction {
  const { clock, random, workers, timeline } = deps;

  /** The pod as it is when it has been measured, and the limit that it exceeds. */
  const look = async (pod: Pod, meter: PodStorageMeter, signal: AbortSignal): Promise<Verdict | undefined> => {
    const needed = readLocalStorageLimits(pod);
    if (needed === undefined) return undefined;
    const usage = await meter.measure(pod, needed, signal);
    const hasDedicatedImageFs = await readImageFs(deps, needed, signal);
    const current = limitedPod(workers, podUid(pod));
    const limits = current && readLocalStorageLimits(current);
    const exceeded = limits && findExceededLimit({ pod: current, limits, usage, hasDedicatedImageFs });
    return exceeded && { pod: current, exceeded };
  };

  /** Of one that must stay: once, as long as it is the same. */
  const tellUnenforced = (pod: Pod, { message }: ExceededLimit): void => {
    const words = `${message}The pod is static or critical and is not evicted for it.`;
    timeline.record(podReference(pod), { type: "Warning", reason: "LimitNotEnforced", message: words });
  };

  const awaitEnd = async (pod: Pod, signal: AbortSignal): Promise<void> => {
    await sleep(clock, STOP_TIMEOUT_MS, signal);
    if (workers.state(podUid(pod))?.phase !== "terminating") return;
    const message = "Container runtime did not kill the pod within specified grace period.";
    timeline.record(podReference(pod), { type: "Warning", reason: "ExceededGracePeriod", message });
  };

  const watchPod = async (uid: string, signal: AbortSignal): Promise<void> => {
    const meter = deps.createMeter();
    let told: string | undefined;
    // Pods that start together are not measured together.
    await sleep(clock, random.next() * monitoringPeriodMs, signal);
    for (let pod = limitedPod(workers, uid); pod !== undefined; pod = limitedPod(workers, uid)) {
      const begun = clock.monotonic();
      const verdict = await look(pod, meter, signal);
      const took = clock.monotonic() - begun;
      const message = verdict?.exceeded.message;
      if (verdict !== undefined && message !== told) {
        if (deps.evict(verdict.pod, { ...verdict.exceeded, gracePeriodSeconds: GRACE_PERIOD_SECONDS })) {
          return await awaitEnd(verdict.pod, signal);
        }
        tellUnenforced(verdict.pod, verdict.exceeded);
      }
      told = message;
      await sleep(clock, Math.max(monitoringPeriodMs, took * REST_PER_WORK), signal);
    }
  };

  const follow = async (tasks: Tasks, signal: AbortSignal): Promise<void> => {
    const watched = new Set<string>();
    await repeat(clock, { periodMs: monitoringPeriodMs, signal }, () => {
      for (const uid of workers.states().keys()) {
        if (watched.has(uid) || limitedPod(workers, uid) === undefined) continue;
        watched.add(uid);
        tasks.spawn(`local storage of ${uid}`, async () => {
          await watchPod(uid, signal).finally(() => watched.delete(uid));
        });
      }
    });
  };

  return { run: async (signal) => await runWithTasks(signal, follow) };
}

/** Undefined for a pod that need not be measured: it has no limits, it is ending, or it is gone. */
function limitedPod(workers: LocalStorageEvictionDeps["workers"], uid: string): Pod | undefined {
  const state = workers.state(uid);
  if (state?.phase !== "syncing" || state.subject.kind !== "pod") return undefined;
  return readLocalStorageLimits(state.subject.pod) === undefined ? undefined : state.subject.pod;
}

/** Only containers' limits need it to be known. */
async function readImageFs(
  { imageFs, log }: LocalStorageEvictionDeps,
  limits: LocalStorageLimits,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (limits.containers.size === 0) return undefined;
  try {
    return await imageFs.read(signal);
  } catch (error) {
    if (isAbort(error)) throw error;
    log.debug("Cannot tell whether the runtime has a disk of its own", { error: messageOf(error) });
    return undefined;
  }
}
