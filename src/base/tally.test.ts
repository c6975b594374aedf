import { expect, it } from "vitest";
import { createTally } from "./tally.ts";

it("counts each key by itself, and knows the highest", () => {
  const tally = createTally();
  expect([tally.count("a"), tally.highest()]).toEqual([0, undefined]);
  for (const key of ["a", "b", "b"]) tally.add(key, 1);
  expect([tally.count("a"), tally.count("b"), tally.highest()]).toEqual([1, 2, "b"]);
  tally.add("b", -2);
  tally.add("b", -1);
  expect([tally.count("b"), tally.highest()]).toEqual([0, "a"]);
});
