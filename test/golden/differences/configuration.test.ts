import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FieldTable } from "../../../src/config/codec.ts";
import { FEATURE_GATES } from "../../../src/config/feature-gate-table.ts";
import { KUBELET_FLAGS } from "../../../src/config/flags.ts";
import { KUBELET_CONFIGURATION_FIELDS } from "../../../src/config/kubelet-configuration.ts";
import { codeIn, readTable } from "./read-tables.ts";

const DOCUMENT = "differences-configuration.md";
const SOURCES = join(import.meta.dirname, "../../../src");

/** The names that a column shows as code, over all rows. */
function namesIn(heading: string, column: string): string[] {
  return readTable(DOCUMENT, heading)
    .flatMap((row) => codeIn(row[column]))
    .sort();
}

function fieldsWithoutEffect(table: FieldTable, prefix = ""): string[] {
  return Object.entries(table).flatMap(([name, { effect, codec }]) => {
    if (effect !== "works") return [`${prefix}${name}`];
    return codec.fields === undefined ? [] : fieldsWithoutEffect(codec.fields, `${prefix}${name}.`);
  });
}

/** The feature gates that the product's code asks for by name, as `gates.Name` or `gates["Name"]`. */
function gatesThatAreRead(): Set<string> {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
  const texts = files
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => readFileSync(join(SOURCES, path), "utf8"));
  const reads = texts.flatMap((text) => [...text.matchAll(/[gG]ates(?:\.|\[")([A-Z]\w+)/g)]);
  return new Set(reads.map(([, name = ""]) => name));
}

describe("the document of configuration without an effect", () => {
  it("has each such field, and no other", () => {
    expect(namesIn("Fields", "field")).toEqual(fieldsWithoutEffect(KUBELET_CONFIGURATION_FIELDS).sort());
  });

  it("has each flag without an effect that sets no field, and no other", () => {
    const flags = KUBELET_FLAGS.filter(({ effect, field }) => effect !== "works" && field === undefined);
    expect(namesIn("Flags that set no field", "flag")).toEqual(flags.map(({ name }) => `--${name}`).sort());
  });

  it("tells each feature gate that is read from those that are not", () => {
    const read = gatesThatAreRead();
    const gates = Object.keys(FEATURE_GATES).sort();
    expect(namesIn("Feature gates that have an effect", "gate")).toEqual(gates.filter((name) => read.has(name)));
    const unread = gates.filter((name) => !read.has(name));
    expect(namesIn("Feature gates without an effect", "gates")).toEqual(unread);
  });
});
