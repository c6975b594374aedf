/** What the bodies of one connection may come in: handling a chunk takes as long as handling hundreds of its bytes. */
export interface ChunkAllowance {
  /** Notes a chunk. Chunks of `fairBytes` bytes on average are fair, however many there are. */
  take(bytes: number, fairBytes: number): ChunkVerdict;
}

/** `excessive` is twice as much as `too many`, which leaves a client the time to read what is wrong. */
type ChunkVerdict = "fair" | "too many" | "excessive";

/** Chunks that may be small at once. */
const BURST = 4096;
/** Small chunks that may follow each second: the event loop handles them in some milliseconds. */
const PER_SECOND = 1000;

/** `now` gives milliseconds of a clock that only rises. */
export function createChunkAllowance(now: () => number): ChunkAllowance {
  let excess = 0;
  let settledAt = now();
  return {
    take(bytes, fairBytes) {
      excess = Math.max(0, excess + 1 - bytes / fairBytes);
      // The clock is read only where it decides.
      if (excess <= BURST) return "fair";
      const at = now();
      excess = Math.max(0, excess - ((at - settledAt) / 1_000) * PER_SECOND);
      settledAt = at;
      if (excess <= BURST) return "fair";
      return excess <= 2 * BURST ? "too many" : "excessive";
    },
  };
}
