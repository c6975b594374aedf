import { isDeepStrictEqual } from "node:util";
import { parseStrictJson } from "../../../src/api/strict-json.ts";
import { promise, type Target } from "../target.ts";
import { refused } from "./expected.ts";
import { JSON_SEEDS, JSON_WORDS } from "./words.ts";

/** The reader of JSON that strangers send, which is measured before it is built: it reads what `JSON.parse` reads. */
export const jsonTarget: Target = {
  name: "json",
  runs: 8_192,
  seeds: JSON_SEEDS,
  words: JSON_WORDS,
  maxBytes: 1024 * 1024,
  setUp: async () => ({
    run(input) {
      const text = input.toString();
      const read = refused(() => parseStrictJson(text));
      promise(
        read === undefined || isDeepStrictEqual(read.value, JSON.parse(text)),
        "it reads not what JSON.parse reads",
      );
    },
  }),
};
