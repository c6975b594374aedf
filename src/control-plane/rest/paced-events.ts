import type { Clock, Timer } from "../../base/clock.ts";
import type { AnswerWriter } from "../../host/http-server.ts";

/** Events of one watch, which are encoded no faster than the client reads them. */
interface PacedEvents<Event> {
  /** Encodes and writes the event, or lets it wait behind others. */
  add(event: Event): void;
  /** True while events wait: nothing may be written past them. */
  readonly isWaiting: boolean;
  /** Bytes that the client has not read, those included that are not encoded yet. */
  unreadBytes(): number;
  /** Drops what waits. */
  stop(): void;
}

interface PacedEventsDeps<Event> {
  readonly clock: Pick<Clock, "setTimer">;
  readonly writer: AnswerWriter;
  encode(event: Event): ReadonlyArray<Buffer | string>;
  /** About how many bytes it will have; 0 for one that needs no room. */
  sizeOf(event: Event): number;
  /** Told of an event that could not be encoded when it was its turn. */
  onError(error: unknown): void;
}

/** An unread answer is made longer than this by what has to be said at once alone. */
const ROOM_BYTES = 1024 * 1024;
/** How soon it looks whether the client has read; each look that finds nothing read doubles the time. */
const FIRST_LOOK_MS = 1;
const LAST_LOOK_MS = 1_000;

/**
 * Thousands of watches may begin at once, of all objects of a kind in a form of their own, and their clients may read
 * nothing. What they were not sent is kept as the objects that are stored anyway, and not as a copy for each of them.
 */
export function createPacedEvents<Event>(deps: PacedEventsDeps<Event>): PacedEvents<Event> {
  const { clock, writer, sizeOf } = deps;
  let waiting: Event[] = [];
  let next = 0;
  let waitingBytes = 0;
  let timer: Timer | undefined;
  let lookMs = FIRST_LOOK_MS;
  const hasRoom = () => writer.bufferedBytes < ROOM_BYTES;
  const write = (event: Event) => {
    for (const chunk of deps.encode(event)) writer.write(chunk);
  };
  const stop = () => {
    timer?.cancel();
    timer = undefined;
    waiting = [];
    next = 0;
    waitingBytes = 0;
  };
  const look = () => {
    timer = undefined;
    lookMs = hasRoom() ? FIRST_LOOK_MS : Math.min(2 * lookMs, LAST_LOOK_MS);
    try {
      for (let event = waiting[next]; event !== undefined && hasRoom(); event = waiting[next]) {
        next++;
        waitingBytes -= sizeOf(event);
        write(event);
      }
    } catch (error) {
      stop();
      deps.onError(error);
      return;
    }
    if (next === waiting.length) stop();
    else timer = clock.setTimer(lookMs, look);
  };
  return {
    add(event) {
      const size = sizeOf(event);
      if (waiting.length === 0 && (size === 0 || hasRoom())) {
        write(event);
        return;
      }
      waiting.push(event);
      waitingBytes += size;
      timer ??= clock.setTimer(lookMs, look);
    },
    get isWaiting() {
      return waiting.length > 0;
    },
    unreadBytes: () => writer.bufferedBytes + waitingBytes,
    stop,
  };
}
