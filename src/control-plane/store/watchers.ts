import type { StoreEvent } from "../ports/object-store.ts";

type Listener = (event: StoreEvent) => void;

/** Who is told of what. */
interface Watchers {
  /** The listener is told of what happens below the prefix after the revision. Returns how to stop. */
  add(prefix: string, afterRevision: number, listener: Listener): () => void;
  /** Tells everybody whom the event concerns. What listeners throw goes to `onThrow`, and the others are told. */
  tell(event: StoreEvent): void;
}

interface Watcher {
  readonly afterRevision: number;
  readonly listener: Listener;
}

/**
 * By prefix, so that an event costs what those cost whom it concerns, and one look for every length that a prefix has
 * (a handful: kinds, namespaces, single objects).
 */
export function createWatchers(onThrow: (error: unknown, event: StoreEvent) => void): Watchers {
  const byPrefix = new Map<string, Set<Watcher>>();
  const prefixesByLength = new Map<number, number>();

  const countLength = (length: number, change: 1 | -1) => {
    const count = (prefixesByLength.get(length) ?? 0) + change;
    if (count === 0) prefixesByLength.delete(length);
    else prefixesByLength.set(length, count);
  };

  const tellOne = ({ afterRevision, listener }: Watcher, event: StoreEvent) => {
    // A watch that begins in a listener of this very event has had it from history.
    if (event.revision <= afterRevision) return;
    try {
      listener(event);
    } catch (error) {
      onThrow(error, event);
    }
  };

  return {
    add(prefix, afterRevision, listener) {
      const watcher = { afterRevision, listener };
      const watchers = byPrefix.get(prefix) ?? new Set();
      if (watchers.size === 0) {
        byPrefix.set(prefix, watchers);
        countLength(prefix.length, 1);
      }
      watchers.add(watcher);
      return () => {
        if (!watchers.delete(watcher) || watchers.size > 0) return;
        byPrefix.delete(prefix);
        countLength(prefix.length, -1);
      };
    },
    tell(event) {
      for (const length of prefixesByLength.keys()) {
        if (length > event.key.length) continue;
        for (const watcher of byPrefix.get(event.key.slice(0, length)) ?? []) tellOne(watcher, event);
      }
    },
  };
}
