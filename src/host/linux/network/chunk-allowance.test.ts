import { expect, it } from "vitest";
import { createChunkAllowance } from "./chunk-allowance.ts";

function allowance() {
  let now = 0;
  const { take } = createChunkAllowance(() => now);
  const takeMany = (count: number, bytes: number) => Array.from({ length: count }, () => take(bytes, 100));
  const pass = (ms: number) => {
    now += ms;
  };
  return { takeMany, pass };
}

it("allows thousands of chunks of a byte, and as many again before they are excessive", () => {
  const verdicts = allowance().takeMany(10_000, 1);
  const first = (verdict: (typeof verdicts)[number]) => verdicts.indexOf(verdict);
  expect([first("fair"), first("too many"), first("excessive")]).toEqual([0, 4137, 8274]);
});

it("allows any number of fair chunks, on average", () => {
  const { takeMany } = allowance();
  for (let turn = 0; turn < 100; turn++) {
    expect(new Set([...takeMany(1_000, 1), ...takeMany(1, 99_000)])).toEqual(new Set(["fair"]));
  }
});

it("does not save what a large chunk is worth", () => {
  const { takeMany } = allowance();
  takeMany(1, 1_000_000_000);
  expect(takeMany(10_000, 1).at(-1)).toBe("excessive");
});

it("allows a thousand small chunks a second for ever", () => {
  const { takeMany, pass } = allowance();
  for (let second = 0; second < 60; second++) {
    expect(new Set(takeMany(1_000, 0))).toEqual(new Set(["fair"]));
    pass(1_000);
  }
});
