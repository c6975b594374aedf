import { describe, expect, it } from "vitest";
import type { FieldTable } from "../../../src/config/codec.ts";
import { FEATURE_GATES } from "../../../src/config/feature-gate-table.ts";
import { GATES_IN_USE } from "../../../src/config/feature-gates.ts";
import { KUBELET_FLAGS } from "../../../src/config/flags.ts";
import { KUBELET_CONFIGURATION_FIELDS } from "../../../src/config/kubelet-configuration.ts";
import { codeIn, readTable } from "./read-tables.ts";

const DOCUMENT = "differences-configuration.md";

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

describe("the document of configuration without an effect", () => {
  it("has each such field, and no other", () => {
    expect(namesIn("Fields", "field")).toEqual(fieldsWithoutEffect(KUBELET_CONFIGURATION_FIELDS).sort());
  });

  it("has each flag without an effect that sets no field, and no other", () => {
    const flags = KUBELET_FLAGS.filter(({ effect, field }) => effect !== "works" && field === undefined);
    expect(namesIn("Flags that set no field", "flag")).toEqual(flags.map(({ name }) => `--${name}`).sort());
  });

  it("tells each feature gate that is read from those that are not", () => {
    const inUse: ReadonlySet<string> = new Set(GATES_IN_USE);
    expect(namesIn("Feature gates that have an effect", "gate")).toEqual([...inUse].sort());
    const others = Object.keys(FEATURE_GATES).filter((name) => !inUse.has(name));
    expect(namesIn("Feature gates without an effect", "gates")).toEqual(others.sort());
  });
});
