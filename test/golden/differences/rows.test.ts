import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { headingsWithTables, readTable } from "./read-tables.ts";

const DOCS = join(import.meta.dirname, "../../../docs");

describe.each(["differences.md", "differences-api.md"])("%s", (document) => {
  it.each(headingsWithTables(document))("names the code of each row: %s", (heading) => {
    const rows = readTable(document, heading);
    expect(rows.length).toBeGreaterThan(0);
    const withoutCode = rows.filter(({ code = "" }) => {
      const links = [...code.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
      return links.length === 0 || !links.every((target) => existsSync(join(DOCS, target)));
    });
    expect(withoutCode.map(({ what }) => what)).toEqual([]);
  });
});
