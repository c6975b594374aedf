import { expect, it } from "vitest";
import { rememberNewest } from "./remember-newest.ts";

it("forgets the oldest beyond its bound, and what came again is not the oldest", () => {
  const remembered = new Set<string>();
  for (const text of ["a", "b", "a", "c"]) rememberNewest(remembered, text, 2);
  expect([...remembered]).toEqual(["a", "c"]);
});
