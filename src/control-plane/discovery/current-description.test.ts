import { expect, test } from "vitest";
import { TABLE } from "./__fixtures__/api-table.ts";
import { createCurrentDescription } from "./current-description.ts";

test("the documents are made anew when the table of kinds or what others serve has changed, and only then", () => {
  const kinds = { all: () => TABLE.kinds, version: 1 };
  const foreign = { versions: () => [], version: 1 };
  const options = { definitions: () => ({}), foreign, serverAddress: "127.0.0.1:6443" };
  const current = createCurrentDescription(kinds, options);
  const first = current();
  expect(current()).toBe(first);
  kinds.version = 2;
  const second = current();
  expect(second).not.toBe(first);
  foreign.version = 2;
  expect(current()).not.toBe(second);
});
