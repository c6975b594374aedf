import { expect, test } from "vitest";
import { TABLE } from "./__fixtures__/api-table.ts";
import { createCurrentDescription } from "./current-description.ts";

test("the documents are made anew when the table of kinds has changed, and only then", () => {
  const kinds = { all: () => TABLE.kinds, version: 1 };
  const current = createCurrentDescription(kinds, { definitions: () => ({}), serverAddress: "127.0.0.1:6443" });
  const first = current();
  expect(current()).toBe(first);
  kinds.version = 2;
  expect(current()).not.toBe(first);
});
