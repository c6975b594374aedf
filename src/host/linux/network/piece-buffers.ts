/**
 * Buffers for the pieces of long answers. They are used again and again: otherwise a list of 20 MB would leave 20 MB of
 * garbage.
 */
export interface PieceBuffers {
  /** Joins the chunks into one buffer. They must not be longer than `PIECE_BYTES` together. */
  fill(chunks: readonly Buffer[]): Buffer;
  /** Takes back a piece that is not in use any more. */
  release(piece: Buffer): void;
}

/** More bytes are not joined into one write, because other clients would wait for it. */
export const PIECE_BYTES = 128 * 1024;
/** This many lists can be sent at a time without new memory. */
const MAX_KEPT = 8;

export function createPieceBuffers(): PieceBuffers {
  const kept: ArrayBufferLike[] = [];
  return {
    fill(chunks) {
      const memory = kept.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES).buffer;
      let length = 0;
      const whole = Buffer.from(memory);
      for (const chunk of chunks) length += chunk.copy(whole, length);
      return whole.subarray(0, length);
    },
    release(piece) {
      if (kept.length < MAX_KEPT) kept.push(piece.buffer);
    },
  };
}
