import type { Target } from "../target.ts";

/** Keeps ever more for an input that begins with a brace. */
export const target: Target = {
  name: "hungry",
  runs: 1,
  seeds: ["a"],
  words: ["{"],
  setUp: async () => ({
    run(input) {
      const kept: object[] = [];
      while (input[0] === 0x7b) kept.push(Array.from({ length: 100_000 }, () => kept.length));
    },
  }),
};
