import type { PodReference } from "../../../api/pods.ts";
import { untilAborted } from "../../../base/abort.ts";
import { assert } from "../../../base/assert.ts";
import { emptyPodRuntimeStatus, type PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";

/**
 * The runtime status of each pod as it was read last. A worker that changed something (`invalidate`) must not decide
 * again on what was read before: `fresh` waits for a reading that began afterwards. Order is counted, not timed, so two
 * events in one millisecond cannot be confused.
 */
export interface PodCache {
  /** What begins from now on is newer than everything before: a place in the order of readings and invalidations. */
  mark(): number;
  /**
   * Call when a reading begins; hand the ticket to `put` or `fail` when it ends. `begun`: the reading rests on something that
   * was read before, at this mark. Default: it does not.
   */
  beginRead(uid: string, begun?: number): ReadTicket;
  /** False when the status is no news: a reading that began later ended first, or the pod was forgotten meanwhile. */
  put(ticket: ReadTicket, status: PodRuntimeStatus): boolean;
  /**
   * The reading failed: those who wait for it get the error. The last good status stays as `latest`, but counts as out
   * of date: there was a reason to read again, and a pod that could not be read is not one that the runtime lacks.
   */
  fail(ticket: ReadTicket, error: unknown): void;
  /** The known status is out of date from now on. */
  invalidate(uid: string): void;
  /** The pod was invalidated and not read since: as a rule its worker is changing it. */
  isOutdated(uid: string): boolean;
  /** Waits for a status whose reading began after the last `invalidate`. Rejects when that reading fails. */
  fresh(pod: PodReference, signal: AbortSignal): Promise<PodRuntimeStatus>;
  /** The last good status, at any age. */
  latest(uid: string): PodRuntimeStatus | undefined;
  /** Every pod of the runtime has been read once: from now on an unknown pod is one that the runtime does not have. */
  markComplete(): void;
  /** Drops the pod, which no worker has any more. */
  forget(uid: string): void;
  readonly size: number;
}

/** Proves when a reading began. */
interface ReadTicket {
  uid: string;
  begun: number;
}

interface Entry {
  status: PodRuntimeStatus | undefined;
  /** When the reading behind `status` began, and when the last invalidation came, on one counter. */
  readAt: number;
  staleAt: number;
  waiting: Set<Waiter>;
}

interface Waiter {
  resolve(status: PodRuntimeStatus): void;
  reject(error: unknown): void;
}

export function createPodCache(now: () => number): PodCache {
  const entries = new Map<string, Entry>();
  /** Readings under way. A reading that `forget` took out counts for nothing: its pod's life is over. */
  const reading = new Set<ReadTicket>();
  let complete = false;
  let resume = (): void => undefined;
  const whenComplete = new Promise<undefined>((resolve) => {
    resume = () => resolve(undefined);
  });
  let counter = 0;

  const entryOf = (uid: string): Entry => {
    const entry = entries.get(uid) ?? { status: undefined, readAt: -1, staleAt: -1, waiting: new Set() };
    entries.set(uid, entry);
    return entry;
  };
  const isFresh = (entry: Entry) => entry.status !== undefined && entry.readAt > entry.staleAt;

  const untilRead = async (entry: Entry, signal: AbortSignal): Promise<PodRuntimeStatus> => {
    const waiter: Waiter = { resolve: () => undefined, reject: () => undefined };
    const read = new Promise<PodRuntimeStatus>((resolve, reject) => Object.assign(waiter, { resolve, reject }));
    entry.waiting.add(waiter);
    try {
      return await untilAborted(read, signal);
    } finally {
      entry.waiting.delete(waiter);
    }
  };

  return {
    mark: () => ++counter,
    beginRead(uid, begun = ++counter) {
      const ticket = { uid, begun };
      reading.add(ticket);
      return ticket;
    },
    put(ticket, status) {
      if (!reading.delete(ticket)) return false;
      const known = entries.get(ticket.uid);
      if (isEmpty(status) && (known === undefined || isBlank(known, ticket))) {
        // An unknown pod is taken for an empty one, so nothing is stored: a late reading of a forgotten pod leaves
        // nothing.
        entries.delete(ticket.uid);
        return true;
      }
      const entry = entryOf(ticket.uid);
      // A slower reading that began earlier must not overwrite a newer one.
      if (ticket.begun <= entry.readAt) return false;
      entry.status = status;
      entry.readAt = ticket.begun;
      if (isFresh(entry)) for (const waiter of entry.waiting) waiter.resolve(status);
      return true;
    },
    fail(ticket, error) {
      if (!reading.delete(ticket)) return;
      const entry = entryOf(ticket.uid);
      // The failure is no news after a later reading, or after a later change, which needs a later reading.
      if (ticket.begun <= Math.max(entry.staleAt, entry.readAt)) return;
      entry.staleAt = ticket.begun;
      for (const waiter of entry.waiting) waiter.reject(error);
    },
    invalidate(uid) {
      entryOf(uid).staleAt = ++counter;
    },
    isOutdated(uid) {
      const entry = entries.get(uid);
      return entry !== undefined && entry.staleAt > entry.readAt;
    },
    async fresh(pod, signal) {
      if (!complete) await untilAborted(whenComplete, signal);
      const entry = entries.get(pod.uid);
      if (entry === undefined || (entry.status === undefined && entry.staleAt < 0)) {
        return emptyPodRuntimeStatus(pod, now());
      }
      if (entry.status !== undefined && isFresh(entry)) return entry.status;
      return await untilRead(entry, signal);
    },
    latest: (uid) => entries.get(uid)?.status,
    markComplete() {
      complete = true;
      resume();
    },
    forget(uid) {
      const entry = entries.get(uid);
      assert(entry === undefined || entry.waiting.size === 0, "a pod is forgotten when nobody waits for it any more");
      entries.delete(uid);
      for (const ticket of reading) if (ticket.uid === uid) reading.delete(ticket);
    },
    get size() {
      return entries.size;
    },
  };
}

/** Every reading of the pod so far was empty, this one is the newest, and no worker waits for another. */
function isBlank({ status, staleAt, waiting }: Entry, ticket: ReadTicket): boolean {
  return (status === undefined || isEmpty(status)) && staleAt <= ticket.begun && waiting.size === 0;
}

function isEmpty({ sandboxes, containers }: PodRuntimeStatus): boolean {
  return sandboxes.length === 0 && containers.length === 0;
}
