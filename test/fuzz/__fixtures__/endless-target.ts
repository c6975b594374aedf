import type { Target } from "../target.ts";

/** Runs in circles for an input that begins with a brace. */
export const target: Target = {
  name: "endless",
  runs: 1,
  seeds: ["a"],
  words: ["{"],
  setUp: async () => ({
    run(input) {
      while (input[0] === 0x7b);
    },
  }),
};
