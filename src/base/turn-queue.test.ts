import { expect, it } from "vitest";
import { createTurnQueue } from "./turn-queue.ts";

function lineOf(limits: { maxItems: number; maxPerOwner: number }, items: readonly string[]) {
  const line = createTurnQueue<string>(limits);
  for (const item of items) line.push(item.charAt(0), item);
  const taken: string[] = [];
  for (let item = line.take(); item !== undefined; item = line.take()) taken.push(item);
  expect(line.length).toBe(0);
  return taken;
}

it.each([
  ["gives owners turns", { maxItems: 9, maxPerOwner: 9 }, ["a1", "a2", "a3", "b1", "c1", "b2"], "a1 b1 c1 a2 b2 a3"],
  ["drops what an owner has too many of", { maxItems: 9, maxPerOwner: 2 }, ["a1", "a2", "a3", "b1"], "a1 b1 a2"],
  ["has room for one who has none", { maxItems: 3, maxPerOwner: 3 }, ["a1", "a2", "a3", "b1"], "a1 b1 a2"],
  ["has none for one who has some", { maxItems: 3, maxPerOwner: 3 }, ["a1", "a2", "b1", "b2", "a3"], "a1 b1 a2"],
  ["has none where each has one", { maxItems: 2, maxPerOwner: 3 }, ["a1", "b1", "c1"], "a1 b1"],
])("%s", (_what, limits, items, expected) => {
  expect(lineOf(limits, items).join(" ")).toBe(expected);
});
