/** Gathers the pieces of a body whose size somebody else bounds, in about as much memory as they have bytes. */
interface ByteCollector {
  /** The bytes so far. */
  readonly length: number;
  /** The piece must not be changed afterwards. */
  add(piece: Buffer): void;
  /** Returns all bytes, and holds none of them any more. A single piece is returned as it is. */
  take(): Buffer;
  /** As `take`; calls `pause` between the megabytes that it copies, so that a large body holds nothing up. */
  takeInTurns(pause: () => Promise<void>): Promise<Buffer>;
}

/** Pieces of so many bytes are kept as they are. */
const LARGE_BYTES = 4 * 1024;
/** This many small pieces are kept as they are, because most bodies have few. */
const MAX_SMALL_PIECES = 64;
const BLOCK_BYTES = 64 * 1024;
/** New memory costs more than the copying: some milliseconds a turn on a slow machine. */
const TURN_BYTES = 2 * 1024 * 1024;

/**
 * A peer chooses how it cuts what it sends. An object for each byte would take a hundred times the body's size, so that
 * many small pieces are copied together.
 */
export function createByteCollector(): ByteCollector {
  let pieces: Buffer[] = [];
  let length = 0;
  let block: Buffer | undefined;
  let used = 0;

  const seal = () => {
    if (block === undefined || used === 0) return;
    pieces.push(used === block.length ? block : Buffer.from(block.subarray(0, used)));
    if (used === block.length) block = undefined;
    used = 0;
  };
  const copy = (piece: Buffer) => {
    for (let at = 0; at < piece.length; ) {
      block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
      const copied = piece.copy(block, used, at);
      used += copied;
      at += copied;
      if (used === block.length) seal();
    }
  };

  const clear = () => {
    seal();
    const taken = { pieces, length };
    pieces = [];
    length = 0;
    block = undefined;
    return taken;
  };

  const take = () => {
    const taken = clear();
    const [only] = taken.pieces;
    return taken.pieces.length === 1 && only !== undefined ? only : Buffer.concat(taken.pieces, taken.length);
  };

  return {
    get length() {
      return length;
    },
    add(piece) {
      length += piece.length;
      if (piece.length >= LARGE_BYTES) {
        seal();
        pieces.push(piece);
      } else if (block === undefined && pieces.length < MAX_SMALL_PIECES) {
        if (piece.length > 0) pieces.push(piece);
      } else copy(piece);
    },
    take,
    async takeInTurns(pause) {
      if (length <= TURN_BYTES) return take();
      const taken = clear();
      const whole = Buffer.allocUnsafeSlow(taken.length);
      let at = 0;
      let turnEndsAt = TURN_BYTES;
      for (const piece of taken.pieces) {
        at += piece.copy(whole, at);
        if (at < turnEndsAt) continue;
        turnEndsAt = at + TURN_BYTES;
        await pause();
      }
      return whole;
    },
  };
}
