import { Duplex } from "node:stream";

/**
 * Returns how many bytes the next piece has at most. Bytes that are written in one call may arrive in several pieces.
 */
export type NextCut = () => number;

/**
 * Makes two ends of a connection in memory. Each end reads what the other writes, cut anew. A reader that pauses holds
 * up the writer.
 */
export function connectStreams(nextCut: NextCut = () => Number.POSITIVE_INFINITY): { a: Duplex; b: Duplex } {
  const a: Duplex = createEnd(() => b, nextCut);
  const b: Duplex = createEnd(() => a, nextCut);
  return { a, b };
}

function createEnd(other: () => Duplex, nextCut: NextCut): Duplex {
  let wake: (() => void) | undefined;
  const end = new Duplex({
    highWaterMark: 16 * 1024,
    read: () => {
      const resume = wake;
      wake = undefined;
      resume?.();
    },
    write(chunk: Buffer, _encoding, callback) {
      let rest = chunk;
      const carry = () => {
        while (rest.length > 0) {
          const piece = rest.subarray(0, Math.max(1, nextCut()));
          rest = rest.subarray(piece.length);
          if (other().destroyed) break;
          if (!other().push(Buffer.from(piece)) && rest.length > 0) {
            onWake(other(), carry);
            return;
          }
        }
        if (other().readableLength >= other().readableHighWaterMark) onWake(other(), () => callback());
        else callback();
      };
      carry();
    },
    final(callback) {
      if (!other().destroyed) other().push(null);
      callback();
    },
    destroy(error, callback) {
      if (!other().destroyed && !other().readableEnded) other().push(null);
      callback(error);
    },
  });
  wakes.set(end, (resume) => {
    wake = resume;
  });
  return end;
}

const wakes = new WeakMap<Duplex, (resume: () => void) => void>();

function onWake(end: Duplex, resume: () => void): void {
  wakes.get(end)?.(resume);
}
