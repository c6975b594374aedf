import type { StoredObject, StoreEvent } from "../ports/object-store.ts";
import { partition } from "./sorted-versions.ts";

/** The events of late, oldest first and complete after `compactedRevision`. */
export interface History {
  /** All events up to this revision are forgotten. */
  readonly compactedRevision: number;
  add(event: StoreEvent, timeMs: number): void;
  /** Events after the revision, which must not be before `compactedRevision`; oldest first. */
  after(revision: number): readonly StoreEvent[];
  /** The versions below a prefix as they were at an earlier revision, computed back from the present ones. */
  rewind(now: readonly StoredObject[], prefix: string, revision: number): readonly StoredObject[];
  /** Forgets the events over a bound. To be called after `add`. */
  trim(nowMs: number): void;
}

/** At each bound the oldest events are forgotten, even those still to be read: a watcher that is behind lists anew. */
export interface HistoryBounds {
  /** Default 4,096. */
  readonly maxEvents?: number;
  /** Bytes of JSON that only history keeps alive. Default 8 MiB. */
  readonly maxBytes?: number;
  /** Age by the wall clock. Default 5 minutes, for which upstream has etcd keep events. */
  readonly maxAgeMs?: number;
}

interface Entry {
  readonly event: StoreEvent;
  readonly timeMs: number;
}

const DEFAULT_BOUNDS = { maxEvents: 4_096, maxBytes: 8 * 1024 * 1024, maxAgeMs: 300_000 };

export function createHistory(compactedRevision: number, bounds: HistoryBounds = {}): History {
  const { maxEvents, maxBytes, maxAgeMs } = { ...DEFAULT_BOUNDS, ...bounds };
  const entries: Entry[] = [];
  /** Entries before this index are forgotten; they are cut off many at a time. */
  let first = 0;
  let bytes = 0;
  let compacted = compactedRevision;

  const placeAfter = (revision: number) => partition(entries, ({ event }) => event.revision <= revision, first);
  const isOver = (oldest: Entry, nowMs: number) =>
    entries.length - first > maxEvents || bytes > maxBytes || nowMs - oldest.timeMs > maxAgeMs;

  return {
    get compactedRevision() {
      return compacted;
    },
    add(event, timeMs) {
      entries.push({ event, timeMs });
      bytes += bytesKeptBy(event);
    },
    after: (revision) => entries.slice(placeAfter(revision)).map(({ event }) => event),
    rewind(now, prefix, revision) {
      const before = new Map<string, StoredObject | undefined>();
      // The walk is backwards, so that the oldest change after the revision has the last word.
      for (let place = entries.length - 1, end = placeAfter(revision); place >= end; place--) {
        const event = entries[place]?.event;
        if (event?.key.startsWith(prefix)) before.set(event.key, event.previous);
      }
      if (before.size === 0) return now;
      const unchanged = now.filter(({ key }) => !before.has(key));
      const restored = [...before.values()].filter((version) => version !== undefined);
      return [...unchanged, ...restored].sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    trim(nowMs) {
      for (let oldest = entries[first]; oldest !== undefined && isOver(oldest, nowMs); oldest = entries[first]) {
        compacted = oldest.event.revision;
        bytes -= bytesKeptBy(oldest.event);
        first++;
      }
      if (first * 2 > entries.length) {
        entries.splice(0, first);
        first = 0;
      }
    },
  };
}

/** Counts a version that is superseded or deleted; the newest one is kept by the store anyway. */
function bytesKeptBy({ type, stored, previous }: StoreEvent): number {
  return (previous?.json.length ?? 0) + (type === "DELETED" ? stored.json.length : 0);
}
