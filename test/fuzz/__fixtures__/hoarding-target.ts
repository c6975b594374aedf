import type { Target } from "../target.ts";

/** More than memory grows by itself, also where the inputs are few and repeated twice. */
const BYTES = 8_000_000;
const kept: Buffer[] = [];

/** Keeps something of each input, and never lets go of it. */
export const target: Target = {
  name: "hoarding",
  runs: 1,
  batch: 1,
  seeds: ["a"],
  words: [],
  setUp: async () => ({ run: () => void kept.push(Buffer.alloc(BYTES)) }),
};
