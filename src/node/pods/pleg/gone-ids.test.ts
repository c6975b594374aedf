import { expect, it } from "vitest";
import { createGoneIds } from "./gone-ids.ts";

it("remembers the newest thousand", () => {
  const gone = createGoneIds();
  for (let id = 0; id < 1_500; id++) gone.add(`${id}`);
  expect(gone.has("499")).toBe(false);
  expect(gone.has("500")).toBe(true);
  expect(gone.has("1499")).toBe(true);
});
