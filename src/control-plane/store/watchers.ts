import type { StoreEvent } from "../ports/object-store.ts";

type Listener = (event: StoreEvent) => void;

/** The listeners of a store, by the keys that they watch. */
interface Watchers {
  /** Tells the listener of each event below the prefix after the revision. Returns how to stop. */
  add(prefix: string, afterRevision: number, listener: Listener): () => void;
  /** Tells the listeners that the event concerns. What one throws goes to `onThrow`, and the others are told. */
  tell(event: StoreEvent): void;
}

interface Watcher {
  readonly afterRevision: number;
  readonly listener: Listener;
}

/**
 * Listeners by prefix, so that an event costs only the listeners that it concerns, and one look for each length of a
 * prefix (a handful: kinds, namespaces, single objects).
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
    // A watch that began in a listener of this very event has had the event from history.
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
