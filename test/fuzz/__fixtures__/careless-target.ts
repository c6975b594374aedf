import type { Target } from "../target.ts";

/** Rejects where nobody looks, for an input that begins with a brace. */
export const target: Target = {
  name: "careless",
  runs: 1,
  seeds: ["a"],
  words: ["{"],
  setUp: async () => ({
    run(input) {
      if (input[0] === 0x7b) void Promise.reject(new Error("nobody looks"));
    },
  }),
};
