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
  /** Runs until the signal fires, and returns when no measurement is running any more. */
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
  /** Creates the meter of one pod, which is used as long as the pod runs. */
  createMeter(): PodStorageMeter;
  /**
   * Tells whether the runtime keeps images or containers on another disk than the one of the pods' directories; see
   * `DiskLayout`.
   */
  readonly imageFs: { read(signal: AbortSignal): Promise<boolean> };
  readonly evict: PodEvictor;
}

interface LocalStorageEvictionOptions {
  /**
   * The time between two measurements of a pod, if a measurement is cheap. Default 10 s, as upstream's
   * `evictionMonitoringPeriod`.
   */
  readonly monitoringPeriodMs?: number;
}

interface Verdict {
  readonly pod: Pod;
  readonly exceeded: ExceededLimit;
}

const MONITORING_PERIOD_MS = 10 * SECOND;
/** The time to stop that upstream's evictions for limits give a pod. */
const GRACE_PERIOD_SECONDS = 1;
/** An event reports that a pod has not stopped after this time. */
const STOP_TIMEOUT_MS = 10 * SECOND;
/**
 * The rest after a measurement is at least this many times as long as the measurement, so that measuring takes at most
 * a tenth of the time. A pod with millions of files is therefore measured less often.
 */
const REST_PER_WORK = 9;

/**
 * Evicts each pod that exceeds a limit, by upstream's rules (`localStorageEviction` in
 * pkg/kubelet/eviction/eviction_manager.go). Each pod that has limits is measured by a task of its own, so that a disk
 * that does not answer delays no other pod. Pods without limits cost nothing. No state is kept that a restart could
 * lose: the next node agent measures again.
 */
export function createLocalStorageEviction(
  deps: LocalStorageEvictionDeps,
  { monitoringPeriodMs = MONITORING_PERIOD_MS }: LocalStorageEvictionOptions = {},
): LocalStorageEviction {
  const { clock, random, workers, timeline } = deps;

  /** Returns the limit that the pod exceeds, together with the pod as it is after the measurement. */
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

  /** Reports an exceeded limit of a pod that must stay. The caller reports the same message only once. */
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
    // A random delay keeps pods that start together from being measured together.
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

/**
 * Returns the pod if it must be measured. The result is undefined for a pod that has no limits, is ending, or is gone.
 */
function limitedPod(workers: LocalStorageEvictionDeps["workers"], uid: string): Pod | undefined {
  const state = workers.state(uid);
  if (state?.phase !== "syncing" || state.subject.kind !== "pod") return undefined;
  return readLocalStorageLimits(state.subject.pod) === undefined ? undefined : state.subject.pod;
}

/** Reads the layout only if containers have limits, because nothing else needs it. */
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
