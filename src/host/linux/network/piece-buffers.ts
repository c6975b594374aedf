/** Buffers for the pieces of long answers, used again and again: a list of 20 MB would else leave 20 MB of garbage. */
export interface PieceBuffers {
  /** The chunks as one; not more than `PIECE_BYTES` together. */
  fill(chunks: readonly Buffer[]): Buffer;
  /** Takes a piece back that nobody looks at any more. */
  release(piece: Buffer): void;
}

/** More is not joined into one write: others would wait for it. */
export const PIECE_BYTES = 128 * 1024;
/** As many lists are sent at a time without new memory. */
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
