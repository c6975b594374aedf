/** A writer that has bytes for a client. */
export interface Sender {
  /** Writes the bytes that it has. It may add itself again at once, for another turn. */
  send(): void;
}

/**
 * Gives senders their turns. An event for a thousand watchers makes a thousand writes to sockets, which take many
 * milliseconds. They are made in slices, between which requests are served, and after the answer to the request that
 * caused them. A long round is followed by a pause. Bytes that a sender gets before its turn comes go along with the
 * rest: when there is much to send, fewer writes carry more.
 */
export interface SendQueue {
  /** A sender must not be added again before it had its turn. */
  add(sender: Sender): void;
  /**
   * Joins the chunks, plain or as one chunk of HTTP/1.1's chunked coding. Senders that stand one behind the other often
   * have the same chunks, and share the joined buffer.
   */
  join(chunks: readonly Buffer[], framing?: "chunked"): Buffer;
}

/** Milliseconds of sending in which nothing else runs. */
const SLICE_MS = 1;
/**
 * The number is bounded because bytes may go to the socket only after the slice, so that a slice costs more than its
 * own time.
 */
const SENDERS_PER_SLICE = 64;
/** Reading the clock takes a fraction of the time of a write. */
const SENDERS_PER_CLOCK_READING = 8;
/** Milliseconds. No pause follows a shorter round. */
const LONG_ROUND_MS = 4;
/**
 * Milliseconds. The pause is bounded, because a round may have taken long only because the machine was busy. With a
 * thousand watchers on sockets of their own and a hundred events a second, a bound of 20 ms saved a tenth of the
 * processor time that 8 ms take, and doubled the time that an event was on its way. No pause at all took a third more.
 */
const MAX_PAUSE_MS = 8;

export function createSendQueue(): SendQueue {
  let round: Sender[] = [];
  let place = 0;
  let nextRound: Sender[] = [];
  let isScheduled = false;
  let roundBegunAt = 0;
  let pauseEndsAt = 0;
  let joined: Joined | undefined;
  let framed: Joined | undefined;

  const schedule = () => {
    isScheduled = true;
    const pauseMs = place < round.length ? 0 : pauseEndsAt - performance.now();
    if (pauseMs >= 1) setTimeout(sendSlice, pauseMs);
    else setImmediate(sendSlice);
  };

  const sendSlice = () => {
    const begunAt = performance.now();
    if (place === round.length) beginRound(begunAt);
    const end = Math.min(place + SENDERS_PER_SLICE, round.length);
    while (place < end) {
      round[place++]?.send();
      if (place % SENDERS_PER_CLOCK_READING === 0 && performance.now() > begunAt + SLICE_MS) break;
    }
    if (place === round.length) endRound(performance.now());
    isScheduled = false;
    if (place < round.length || nextRound.length > 0) schedule();
  };

  const beginRound = (now: number) => {
    roundBegunAt = now;
    round = nextRound;
    nextRound = [];
    place = 0;
  };

  const endRound = (now: number) => {
    const roundMs = now - roundBegunAt;
    if (roundMs >= LONG_ROUND_MS) pauseEndsAt = now + Math.min(roundMs, MAX_PAUSE_MS);
    round = [];
    place = 0;
    // Joined chunks are not kept in memory between rounds.
    joined = undefined;
    framed = undefined;
  };

  const frame = (chunks: readonly Buffer[]) => {
    if (framed === undefined || !isSame(framed.chunks, chunks)) framed = { chunks, whole: frameChunk(chunks) };
    return framed.whole;
  };

  return {
    add(sender) {
      nextRound.push(sender);
      if (!isScheduled) schedule();
    },
    join(chunks, framing) {
      if (framing === "chunked") return frame(chunks);
      const [only] = chunks;
      if (only !== undefined && chunks.length === 1) return only;
      if (joined === undefined || !isSame(joined.chunks, chunks)) joined = { chunks, whole: Buffer.concat(chunks) };
      return joined.whole;
    },
  };
}

interface Joined {
  readonly chunks: readonly Buffer[];
  readonly whole: Buffer;
}

const LINE_END = Buffer.from("\r\n");

/** Frames a chunk as in RFC 9112, 7.1: the length in hexadecimal digits, and the bytes. */
function frameChunk(chunks: readonly Buffer[]): Buffer {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), ...chunks, LINE_END]);
}

function isSame(a: readonly Buffer[], b: readonly Buffer[]): boolean {
  return a.length === b.length && a.every((chunk, index) => chunk === b[index]);
}
