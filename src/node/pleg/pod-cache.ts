import { untilAborted } from "../../base/abort.ts";
import { emptyPodRuntimeStatus, type PodRuntimeStatus } from "../runtime/pod-runtime-status.ts";

/**
 * The last that was read of each pod's runtime status. A worker that changed something (`invalidate`) must not decide
 * again on what was read before: `fresh` waits for a reading that began afterwards. Order is counted, not timed, so two
 * events in one millisecond cannot be confused.
 */
export interface PodCache {
  /** Call when a reading begins; hand the ticket to `put` or `fail` when it ends. */
  beginRead(uid: string): ReadTicket;
  put(ticket: ReadTicket, status: PodRuntimeStatus): void;
  /** The reading failed: whoever waits for it gets the error, the last good status stays. */
  fail(ticket: ReadTicket, error: unknown): void;
  /** What is known is out of date from now on. */
  invalidate(uid: string): void;
  /** The status, once one that was begun after the last `invalidate` is there. Rejects when its reading fails. */
  fresh(pod: { uid: string; name: string; namespace: string }, signal: AbortSignal): Promise<PodRuntimeStatus>;
  /** The last good status, however old. */
  latest(uid: string): PodRuntimeStatus | undefined;
  /** Every pod of the runtime has been read once: from now on an unknown pod is one that the runtime does not have. */
  markComplete(): void;
  forget(uid: string): void;
  readonly size: number;
}

export interface ReadTicket {
  uid: string;
  begun: number;
}

interface Entry {
  status: PodRuntimeStatus | undefined;
  /** When the reading behind `status` began, and when the last invalidation came, on one counter. */
  readAt: number;
  staleAt: number;
  waiting: Set<{ resolve: (status: PodRuntimeStatus) => void; reject: (error: unknown) => void }>;
}

export function createPodCache(now: () => number): PodCache {
  const entries = new Map<string, Entry>();
  const untilComplete = new Set<() => void>();
  let complete = false;
  let counter = 0;

  const entryOf = (uid: string): Entry => {
    const entry = entries.get(uid) ?? { status: undefined, readAt: -1, staleAt: -1, waiting: new Set() };
    entries.set(uid, entry);
    return entry;
  };
  const isFresh = (entry: Entry) => entry.status !== undefined && entry.readAt > entry.staleAt;

  return {
    beginRead: (uid) => ({ uid, begun: ++counter }),
    put(ticket, status) {
      const entry = entryOf(ticket.uid);
      // A slower reading that began earlier must not overwrite a newer one.
      if (ticket.begun <= entry.readAt) return;
      entry.status = status;
      entry.readAt = ticket.begun;
      if (!isFresh(entry)) return;
      for (const waiter of entry.waiting) waiter.resolve(status);
      entry.waiting.clear();
    },
    fail(ticket, error) {
      const entry = entries.get(ticket.uid);
      if (entry === undefined || ticket.begun <= entry.staleAt) return;
      for (const waiter of entry.waiting) waiter.reject(error);
      entry.waiting.clear();
    },
    invalidate(uid) {
      entryOf(uid).staleAt = ++counter;
    },
    async fresh(pod, signal) {
      if (!complete) await untilAborted(new Promise<void>((resolve) => untilComplete.add(resolve)), signal);
      const entry = entries.get(pod.uid);
      if (entry === undefined || (entry.status === undefined && entry.staleAt < 0)) {
        return emptyPodRuntimeStatus(pod, now());
      }
      if (entry.status !== undefined && isFresh(entry)) return entry.status;
      return await untilAborted(
        new Promise<PodRuntimeStatus>((resolve, reject) => entry.waiting.add({ resolve, reject })),
        signal,
      );
    },
    latest: (uid) => entries.get(uid)?.status,
    markComplete() {
      complete = true;
      for (const resume of untilComplete) resume();
      untilComplete.clear();
    },
    forget(uid) {
      // Somebody may still wait for a reading: then the entry goes with the next `forget`.
      if (entries.get(uid)?.waiting.size === 0) entries.delete(uid);
    },
    get size() {
      return entries.size;
    },
  };
}
