/** Randomness that is handed in, so that a simulation can be replayed from its seed. */
export interface Random {
  /** A float in [0, 1). */
  next(): number;
}

/** Returns `ms` lengthened by up to `factor` of itself, as upstream's `wait.Jitter` does. */
export function jitter(random: Random, ms: number, factor: number): number {
  return ms * (1 + random.next() * factor);
}

/** Mulberry32: small, fast and good enough for jitter and fault schedules; not for secrets. */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    },
  };
}
