import { expect, it } from "vitest";
import { createLru } from "./lru.ts";

it("drops what was unused longest, and reading is a use", () => {
  const lru = createLru<number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  expect(lru.get("a")).toBe(1);
  lru.set("c", 3);
  expect(["a", "b", "c"].map((key) => lru.get(key))).toEqual([1, undefined, 3]);
  lru.set("c", 4);
  expect([lru.size, lru.get("c"), lru.get("a")]).toEqual([2, 4, 1]);
});
