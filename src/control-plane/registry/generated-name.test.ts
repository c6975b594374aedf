import { expect, test } from "vitest";
import { randomNameSuffix } from "./generated-name.ts";

test.each([
  [0, "bbbbb"],
  [0.999, "99999"],
])("a suffix is five characters of the alphabet of names: %d", (random, suffix) => {
  expect(randomNameSuffix(() => random)).toBe(suffix);
});
