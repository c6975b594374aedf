import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { isTerminalPhase, podUid } from "../../../api/pods.ts";
import type { Clock } from "../../../base/clock.ts";
import { mergePodStatus } from "./merge-pod-status.ts";
import { isPodStatusEqual } from "./pod-status-equal.ts";
import { computeTerminatedPodStatus } from "./terminated-pod-status.ts";

/** The node's status of a pod, and the version of the pod that it is of; replaced, never changed in place. */
export interface PublishedStatus {
  readonly pod: Pod;
  readonly status: PodStatus;
  /** Something of the pod may run still, whatever its phase. Default false. */
  readonly mayRun?: boolean;
}

/** `previous`: the status before; for a pod that is published for the first time, the API server's. */
type StatusListener = (published: PublishedStatus, previous: PodStatus) => void;

/**
 * The published status of every pod of the node, and the one place where it changes. It holds one entry for each pod
 * that it was told of, so the owner of the pods bounds it, by `remove`.
 */
export interface PodStatuses {
  /**
   * Publishes what may follow the status before it (see `mergePodStatus`); false when that is no news. The pod's spec
   * must be its current one, because it decides what may restart. `mayRun` (default false): something of the pod may
   * run, so that its end must not be told to others yet.
   */
  set(pod: Pod, status: PodStatus, options?: { mayRun?: boolean }): boolean;
  get(uid: string): PodStatus | undefined;
  /** In the order in which the pods were first told of. */
  list(): PublishedStatus[];
  /** Nothing of the pod runs any more: containers whose end was not seen have failed, and the phase is final. */
  terminate(pod: Pod): boolean;
  /** Forgets the pod: a later one of the same UID, as a static pod that comes back, begins anew. */
  remove(uid: string): void;
  /**
   * Calls the listener after each change, in order, with the status before it. The function that it returns stops
   * that.
   */
  subscribe(listener: StatusListener): () => void;
  /** Calls the listener with each pod that is forgotten, after that. */
  onRemove(listener: (pod: Pod) => void): void;
}

export function createPodStatuses({ clock }: { clock: Pick<Clock, "now"> }): PodStatuses {
  const entries = new Map<string, PublishedStatus>();
  const listeners = new Set<StatusListener>();
  const removalListeners: Array<(pod: Pod) => void> = [];

  const publish = (pod: Pod, next: PodStatus, { mayRun = false }: { mayRun?: boolean } = {}): boolean => {
    const uid = podUid(pod);
    const entry = entries.get(uid);
    const previous = entry?.status ?? pod.status ?? {};
    const merged = mergePodStatus(pod, previous, next, clock.now());
    // A new observed generation is news, also where nothing else changed (KEP-5067).
    const generation = pod.metadata?.generation;
    const status = generation === undefined ? merged : { ...merged, observedGeneration: generation };
    const hasEnded = entry?.mayRun === true && !mayRun && isTerminalPhase(status.phase);
    if (entry !== undefined && !hasEnded && isPodStatusEqual(entry.status, status)) {
      // The spec or the metadata may be news all the same for callers of `list`.
      entries.set(uid, { pod, status: entry.status, mayRun });
      return false;
    }
    const published = { pod, status, mayRun };
    entries.set(uid, published);
    for (const listener of [...listeners]) listener(published, previous);
    return true;
  };

  return {
    set: publish,
    get: (uid) => entries.get(uid)?.status,
    list: () => [...entries.values()],
    terminate: (pod) =>
      publish(pod, computeTerminatedPodStatus(pod, entries.get(podUid(pod))?.status ?? pod.status ?? {})),
    remove(uid) {
      const entry = entries.get(uid);
      if (entry === undefined) return;
      entries.delete(uid);
      for (const listener of removalListeners) listener(entry.pod);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onRemove(listener) {
      removalListeners.push(listener);
    },
  };
}
