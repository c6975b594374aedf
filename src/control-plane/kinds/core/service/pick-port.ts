import { chanceOffset, reservedOf } from "./pick-offset.ts";

interface PortRange {
  readonly first: number;
  readonly last: number;
  /** At least 0, less than 1. */
  random(): number;
}

/**
 * Creates what picks ports of a range that are not taken, one after the other, by chance and above the reserved ones as
 * long as there is one; undefined when all are taken. What was seen taken is skipped from then on, so that a service which
 * takes the whole range costs as much as the range is long; a port that is taken must stay so.
 */
export function createPortPicker(
  { first, last, random }: PortRange,
  isTaken: (port: number) => boolean,
): () => number | undefined {
  const count = last - first + 1;
  const reserved = Number(reservedOf(BigInt(count), { share: 32n, most: 128n }));
  /** For each offset how many that begin with it are taken; 0 where it was not seen taken. */
  const taken = new Uint32Array(count);
  const skipTaken = (from: number, end: number): number => {
    let offset = from;
    while (offset < end) {
      const known = taken[offset] ?? 0;
      if (known === 0 && !isTaken(first + offset)) break;
      if (known === 0) taken[offset] = 1;
      offset += Math.max(known, 1);
    }
    for (let seen = from; seen < offset; ) {
      const known = taken[seen] ?? 1;
      taken[seen] = offset - seen;
      seen += known;
    }
    return offset;
  };
  const pickWithin = (from: number, end: number) => {
    const offset = skipTaken(from, end);
    return offset < end ? first + offset : undefined;
  };
  return () => {
    const start = reserved + Number(chanceOffset(BigInt(count - reserved), random));
    return pickWithin(start, count) ?? pickWithin(reserved, start) ?? pickWithin(0, reserved);
  };
}
