import { expect, it } from "vitest";
import { createSeededRandom } from "../../src/base/random.ts";
import { createMutator } from "./mutate.ts";
import { shrink } from "./shrink.ts";

const WORDS = ["WORD", "\0"].map((word) => Buffer.from(word));
const BASES = ["", "a", '{"a":[1,22,333]}', "x".repeat(3_000)].map((text) => Buffer.from(text));

function mutated(seed: number): string[] {
  const mutator = createMutator(createSeededRandom(seed), { words: WORDS, maxBytes: 4_096 });
  return Array.from({ length: 2_000 }, (_, index) => {
    const [base = Buffer.alloc(0), other = Buffer.alloc(0)] = [BASES[index % 4], BASES[(index >> 2) % 4]];
    return mutator.mutate(base, other).toString("latin1");
  });
}

it("makes the same inputs of the same seed, and others of another", () => {
  expect(mutated(7)).toEqual(mutated(7));
  expect(mutated(8)).not.toEqual(mutated(7));
});

it("makes inputs of every length up to the longest, with words, edges of numbers and deep nesting in them", () => {
  const inputs = mutated(1);
  const lengths = inputs.map(({ length }) => length);
  expect(Math.max(...lengths)).toBe(4_096);
  expect(Math.min(...lengths)).toBe(0);
  for (const part of ["WORD", "9223372036854775808", "[[[[", "1,1,1,"]) {
    expect(
      inputs.some((input) => input.includes(part)),
      part,
    ).toBe(true);
  }
});

it("leaves of an input what it takes to fail, and nothing else", async () => {
  const input = Buffer.from(`${"a".repeat(500)}{${"b".repeat(300)}}${"c".repeat(200)}`);
  const fails = async (candidate: Buffer) => candidate.includes("{") && candidate.includes("}");
  expect((await shrink(input, fails)).toString()).toBe("{}");
});
