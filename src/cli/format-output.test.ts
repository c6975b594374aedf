import { expect, test } from "vitest";
import { parse } from "yaml";
import { formatOutput } from "./format-output.ts";

const shared = { message: `${"long ".repeat(40)}\u001b[31m: #`, none: undefined };
const VALUE = { ok: false, findings: [shared, shared], empty: [], number: "08", yes: "yes" };

test.each(["json", "yaml"] as const)("%s says the same again when it is read", (format) => {
  const text = formatOutput(VALUE, format);
  expect(parse(text)).toEqual(JSON.parse(JSON.stringify(VALUE)));
  for (const unwanted of ["\u001b", "&a1"]) expect(text).not.toContain(unwanted);
  expect(text.endsWith("\n")).toBe(false);
});
