import type { StoredObject, StoreEvent } from "../ports/object-store.ts";
import { partition } from "./sorted-versions.ts";

/** What happened lately, oldest first, with nothing missing after `compactedRevision`. */
export interface History {
  /** All that happened up to here is forgotten. */
  readonly compactedRevision: number;
  add(event: StoreEvent, timeMs: number): void;
  /** Events after the revision, oldest first; of a revision that is not before `compactedRevision`. */
  after(revision: number): readonly StoreEvent[];
  /** What the versions below a prefix were at an earlier revision, made from what they are now. */
  rewind(now: readonly StoredObject[], prefix: string, revision: number): readonly StoredObject[];
  /** Forgets what is over a bound. To be called when there is something to forget, which is after `add`. */
  trim(nowMs: number): void;
}

/** At each bound the oldest events are forgotten, whether or not somebody still reads there: who is behind lists anew. */
export interface HistoryBounds {
  /** Default 4,096. */
  readonly maxEvents?: number;
  /** Bytes of JSON that only history keeps alive. Default 8 MiB. */
  readonly maxBytes?: number;
  /** By the wall clock. Default 5 minutes, as long as upstream has etcd keep it. */
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
      // Backwards, so that the oldest change, which is the first after the revision, has the last word.
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

/** Of a version that is superseded or deleted; the newest one lives anyway. */
function bytesKeptBy({ type, stored, previous }: StoreEvent): number {
  return (previous?.json.length ?? 0) + (type === "DELETED" ? stored.json.length : 0);
}
