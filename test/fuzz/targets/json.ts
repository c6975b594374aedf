import { isDeepStrictEqual } from "node:util";
import { parseStrictJson } from "../../../src/api/strict-json.ts";
import { promise, type Target } from "../target.ts";
import { refused } from "./expected.ts";
import { JSON_SEEDS, JSON_WORDS } from "./words.ts";

/** The reader of JSON that looks for fields written twice and keeps long integers: it reads what `JSON.parse` reads. */
export const jsonTarget: Target = {
  name: "json",
  seeds: JSON_SEEDS,
  words: JSON_WORDS,
  maxBytes: 1024 * 1024,
  setUp: async () => ({
    run(input) {
      const text = input.toString();
      const plain = refused(() => parseStrictJson(text).value);
      const walked = refused(() => parseStrictJson(text, { duplicates: true, bigIntegers: true }).value);
      const rounded = JSON.stringify(walked, (_name, part) => (typeof part === "bigint" ? Number(part) : part));
      promise(isDeepStrictEqual(JSON.stringify(plain), rounded), "the walk reads something else than JSON.parse");
    },
  }),
};
