import type { CorrelatedEvent } from "./correlate-events.ts";

/**
 * Events on their way to the API server, oldest first. One that is repeated while it waits takes its own place: an outage
 * leaves one write an event, however often it happened. At the bound the newest is refused, as client-go's broadcaster
 * does; its count is not lost, because the next of its kind brings it along.
 */
interface EventQueue {
  /** False when it is full and the event was not taken. */
  offer(event: CorrelatedEvent): boolean;
  /** The oldest; undefined when there is none. */
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
      // What the server was never told of is still to be created, whatever its count is by now.
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
