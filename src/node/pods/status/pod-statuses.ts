import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { isTerminalPhase, podUid } from "../../../api/pods.ts";
import type { Clock } from "../../../base/clock.ts";
import { mergePodStatus } from "./merge-pod-status.ts";
import { isPodStatusEqual } from "./pod-status-equal.ts";
import { computeTerminatedPodStatus } from "./terminated-pod-status.ts";

/** What the node says of a pod, and of which version of it; replaced, never changed in place. */
export interface PublishedStatus {
  readonly pod: Pod;
  readonly status: PodStatus;
  /** Something of the pod may run still, whatever its phase. Default false. */
  readonly mayRun?: boolean;
}

/** `previous` of a pod that was not told of before is what the API says. */
type StatusListener = (published: PublishedStatus, previous: PodStatus) => void;

/**
 * The published status of every pod of the node, and the one place where it changes. Holds one entry for each pod that
 * it was told of, so whoever owns the pods bounds it, by `remove`.
 */
export interface PodStatuses {
  /**
   * Publishes what may follow the status before it (see `mergePodStatus`); false when that is no news. The pod's spec
   * must be its current one, because it decides what may restart. `mayRun` (default false): something of it may run, so
   * that nobody else is to hear yet that it has ended.
   */
  set(pod: Pod, status: PodStatus, options?: { mayRun?: boolean }): boolean;
  get(uid: string): PodStatus | undefined;
  /** In the order in which the pods were first told of. */
  list(): PublishedStatus[];
  /** Nothing of the pod runs any more: containers whose end nobody saw have failed, and the phase is final. */
  terminate(pod: Pod): boolean;
  /** A later pod of the same UID, as a static pod that comes back is, begins anew. */
  remove(uid: string): void;
  /** Called after each change, in order, with the status before it. Returns how to stop it. */
  subscribe(listener: StatusListener): () => void;
}

export function createPodStatuses({ clock }: { clock: Pick<Clock, "now"> }): PodStatuses {
  const entries = new Map<string, PublishedStatus>();
  const listeners = new Set<StatusListener>();

  const publish = (pod: Pod, next: PodStatus, { mayRun = false }: { mayRun?: boolean } = {}): boolean => {
    const uid = podUid(pod);
    const entry = entries.get(uid);
    const previous = entry?.status ?? pod.status ?? {};
    const merged = mergePodStatus(pod, previous, next, clock.now());
    // A new generation that was seen is news, also where it changed nothing else (KEP-5067).
    const generation = pod.metadata?.generation;
    const status = generation === undefined ? merged : { ...merged, observedGeneration: generation };
    const hasEnded = entry?.mayRun === true && !mayRun && isTerminalPhase(status.phase);
    if (entry !== undefined && !hasEnded && isPodStatusEqual(entry.status, status)) {
      // The spec or its metadata may be news all the same, to those who list.
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
    remove: (uid) => void entries.delete(uid),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
