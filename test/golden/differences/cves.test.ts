import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readTable } from "./read-tables.ts";

const ROOT = join(import.meta.dirname, "../../..");
const CVE = /CVE-\d{4}-\d{4,}/g;
const ROWS = readTable("cves.md", "Vulnerabilities");
/** A link to a file of tests, and the name of one of its tests. */
const TEST = /\[([^\]]+)\]\(\.\.\/([^)]+)\) `([^`]+)`/g;

const testsOf = (cell = "") => [...cell.matchAll(TEST)].map(([, , path = "", name = ""]) => ({ path, name }));
const readText = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** The tests of this repository by their paths, without those that read names of CVEs. */
function listTestFiles(): string[] {
  const files = ["src", "test"].flatMap((folder) => {
    const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
    return names.filter((name) => name.endsWith(".test.ts")).map((name) => `${folder}/${name}`);
  });
  return files.filter((path) => !path.endsWith("/cves.test.ts") || path.startsWith("test/e2e/"));
}

it.each(ROWS.map((row): [string, string] => [row["CVE"] ?? "", row["tests"] ?? ""]))(
  "%s is shown by tests that are there, under this name",
  (cve, cell) => {
    const tests = testsOf(cell);
    expect(tests.length).toBeGreaterThan(0);
    const missing = tests.filter(({ path, name }) => {
      // Up to an expression, where the name is a template.
      const text = readText(path);
      return ![`"${name}"`, `\`${name}\``, `\`${name} (\${`].some((quoted) => text.includes(quoted));
    });
    expect(missing).toEqual([]);
    expect(tests.some(({ path, name }) => name.includes(cve) && readText(path).includes(cve))).toBe(true);
  },
);

it("every vulnerability that a test names has its row", () => {
  const known = new Set(ROWS.map((row) => row["CVE"]));
  const unknown = listTestFiles().flatMap((path) => {
    return [...readText(path).matchAll(CVE)].filter(([cve]) => !known.has(cve)).map(([cve]) => `${path}: ${cve}`);
  });
  expect(unknown).toEqual([]);
});

it("no row comes twice, and none has a place in the other table", () => {
  const others = readTable("cves.md", "Not applicable").flatMap((row) => row["CVE"]?.match(CVE) ?? []);
  const all = [...ROWS.map((row) => row["CVE"] ?? ""), ...others];
  expect(all.filter((cve, index) => all.indexOf(cve) !== index)).toEqual([]);
});
