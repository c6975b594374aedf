import type { CorrelatedEvent } from "./correlate-events.ts";

/**
 * Events on their way to the API server, oldest first. An event that is repeated while it waits replaces the waiting
 * one in its place: an outage leaves one write for each event, however often it happened. When the queue is full the
 * newest event is refused, as in client-go's broadcaster; its count is not lost, because the next of its kind carries
 * it.
 */
interface EventQueue {
  /** Returns false when the queue is full and the event was not taken. */
  offer(event: CorrelatedEvent): boolean;
  /** Removes and returns the oldest event; undefined when there is none. */
  take(): CorrelatedEvent | undefined;
  readonly size: number;
}

export function createEventQueue(capacity: number): EventQueue {
  const waiting = new Map<string, CorrelatedEvent>();
  return {
    offer(next) {
      const { namespace, name } = next.event.metadata;
      const key = `${namespace}/${name}`;
      const earlier = waiting.get(key);
      if (earlier === undefined && waiting.size >= capacity) return false;
      // An event that the server was never told of must still be created, whatever its count is by now.
      waiting.set(key, earlier === undefined ? next : { event: next.event, isRepeated: earlier.isRepeated });
      return true;
    },
    take() {
      const [first] = waiting;
      if (first === undefined) return undefined;
      waiting.delete(first[0]);
      return first[1];
    },
    get size() {
      return waiting.size;
    },
  };
}
