import { isStaticPod } from "../../../api/pods.ts";
import { untilAborted } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { throwJoined } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { initialState, type PodState, type WorkerUpdate, type WorkKind } from "./pod-state.ts";
import { type PodSyncer, referenceOf } from "./pod-syncer.ts";
import { createPodWorker, type PodWorker, type PodWorkerOptions } from "./pod-worker.ts";
import { createStaticStartOrder } from "./static-start-order.ts";

/**
 * The one place that knows which pods exist on this node, and in which phase: a serial worker for each, all
 * independent.
 */
export interface PodWorkers {
  update(update: WorkerUpdate): void;
  /** Undefined for a UID that no worker knows. */
  state(uid: string): PodState | undefined;
  states(): ReadonlyMap<string, PodState>;
  /**
   * Resolves when these pods have given back everything, volumes included; only their statuses and logs are left on the
   * node. Rejects with AbortedError when the signal fires.
   */
  untilFinished(uids: readonly string[], signal: AbortSignal): Promise<void>;
  /** Resolves when nothing of these pods runs any more; they may still hold volumes. Rejects with AbortedError, too. */
  untilStopped(uids: readonly string[], signal: AbortSignal): Promise<void>;
  /** Stops all workers but not their pods, and resolves when no work is in flight. */
  stop(): Promise<void>;
}

interface PodWorkersDeps {
  clock: Clock;
  random: Random;
  log: Log;
  syncer: PodSyncer;
  metrics?: WorkerMetrics | undefined;
  onFailure(state: PodState, work: WorkKind, error: unknown): void;
  /** The pod is gone and forgotten; its last state. */
  onGone(last: PodState): void;
}

export function createPodWorkers(deps: PodWorkersDeps, options: PodWorkerOptions): PodWorkers {
  const workers = new Map<string, PodWorker>();
  const states = new Map<string, PodState>();
  const staticOrder = createStaticStartOrder();
  /** Called whenever a pod has stopped or finished. */
  const listeners = new Set<() => void>();
  let stopped = false;

  const isFinished = (uid: string) => (states.get(uid)?.phase ?? "finished") === "finished";
  const isStopped = (uid: string) => isFinished(uid) || states.get(uid)?.phase === "terminated";
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const leaveLine = (state: PodState, uid: string) => {
    const next = staticOrder.leave(state.fullName, uid);
    if (next !== undefined) workers.get(next)?.wake();
  };

  const add = (uid: string, update: WorkerUpdate): PodWorker => {
    const { name, namespace } = referenceOf(update.subject);
    const initial = initialState(update, `${name}_${namespace}`);
    const isOrphan = update.subject.kind === "orphan";
    const isStatic = update.subject.kind === "pod" && isStaticPod(update.subject.pod);
    if (isOrphan) deps.metrics?.countOrphan();
    if (isStatic || isOrphan) staticOrder.arrive(initial.fullName, uid);
    // An orphan runs already, so that a later static pod of its name waits until the orphan is gone.
    if (isOrphan) staticOrder.mayStart(initial.fullName, uid);
    const worker = createPodWorker(
      initial,
      {
        ...deps,
        mayStart: () => !isStatic || staticOrder.mayStart(initial.fullName, uid),
        onState: (state) => {
          states.set(uid, state);
          // Nothing of the pod runs from here on, so the next static pod of its name may start.
          if (state.phase !== "terminated" && state.phase !== "finished") return;
          leaveLine(state, uid);
          tell();
        },
        onGone: (last) => {
          workers.delete(uid);
          states.delete(uid);
          leaveLine(last, uid);
          deps.metrics?.countGone(last);
          deps.onGone(last);
          tell();
        },
      },
      options,
    );
    workers.set(uid, worker);
    states.set(uid, initial);
    return worker;
  };

  const untilAll = async (holds: (uid: string) => boolean, uids: readonly string[], signal: AbortSignal) => {
    let check = () => {};
    const held = new Promise<void>((resolve) => {
      check = () => {
        if (uids.every(holds)) resolve();
      };
      listeners.add(check);
      check();
    });
    try {
      await untilAborted(held, signal);
    } finally {
      listeners.delete(check);
    }
  };

  return {
    update(update) {
      if (stopped) return;
      const { uid } = referenceOf(update.subject);
      const known = workers.get(uid);
      // A pod that no worker knows needs no second look.
      if (known === undefined && update.type === "sync") return;
      (known ?? add(uid, update)).update(update);
    },
    state: (uid) => states.get(uid),
    states: () => states,
    untilFinished: async (uids, signal) => await untilAll(isFinished, uids, signal),
    untilStopped: async (uids, signal) => await untilAll(isStopped, uids, signal),
    async stop() {
      stopped = true;
      const ends = await Promise.allSettled([...workers.values()].map(async (worker) => await worker.stop()));
      throwJoined(
        ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])),
        "stopping the pod workers",
      );
    },
  };
}
