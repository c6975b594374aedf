/** A connection whose bytes cost more to understand than to send. */
export interface PacedReader {
  /** Reads no more until `resume`. It must not throw. */
  pause(): void;
  resume(): void;
}

/**
 * Divides the time of the event loop among the connections of clients who can send faster than they are understood: a
 * mebibyte of empty messages is 170,000 of them, and what the kernel holds of one connection would all be handled
 * before anybody else is served.
 */
interface ReadTurns {
  /** Notes that bytes of the reader were handled. It may have to wait for its next turn. */
  haveRead(reader: PacedReader): void;
}

interface ReadTurnsDeps {
  /** Milliseconds of a clock that only rises. */
  now(): number;
  /** Calls back once everybody else was served. */
  defer(callback: () => void): void;
}

/** Milliseconds that all readers together take before others are served. */
const TURN_MS = 5;

/** The readers that wait are resumed one by one, the first to wait first, with a turn for all others between them. */
export function createReadTurns({ now, defer }: ReadTurnsDeps): ReadTurns {
  const waiting = new Set<PacedReader>();
  let begunAt: number | undefined;

  const endTurn = () => {
    begunAt = undefined;
    const [next] = waiting;
    if (next === undefined) return;
    beginTurn();
    waiting.delete(next);
    next.resume();
  };
  const beginTurn = (): number => {
    begunAt = now();
    defer(endTurn);
    return begunAt;
  };

  return {
    haveRead(reader) {
      // Whoever waits may have been resumed by its owner meanwhile.
      if (!waiting.has(reader) && now() - (begunAt ?? beginTurn()) < TURN_MS) return;
      waiting.add(reader);
      reader.pause();
    },
  };
}
