import { expect, it } from "vitest";
import { joinManifestRows, type ManifestRow } from "./manifest-report.ts";

const applied = (file: string): ManifestRow => ({ file, status: "Applied", objects: 2, message: "" });
const failed = (file: string, message: string): ManifestRow => ({ file, status: "Failed", objects: 2, message });
const NO_NAME = "document 1: metadata.name: Required value";

it.each<[what: string, row: ManifestRow[], problem: string, joined: ManifestRow]>([
  ["a file of which the API server knows nothing", [], NO_NAME, { ...failed("a.yaml", NO_NAME), objects: 0 }],
  ["a file whose other objects are applied", [applied("a.yaml")], NO_NAME, failed("a.yaml", NO_NAME)],
  ["what both say once", [failed("a.yaml", "no YAML")], "no YAML", failed("a.yaml", "no YAML")],
  ["what both say beside more", [failed("a.yaml", "no; X: no")], "no", failed("a.yaml", "no; X: no")],
  ["what each says", [failed("a.yaml", "X: no")], NO_NAME, failed("a.yaml", `X: no; ${NO_NAME}`)],
])("tells %s", (_what, rows, message, joined) => {
  expect(joinManifestRows([...rows, applied("b.yaml")], [{ file: "a.yaml", message }])).toEqual([
    joined,
    applied("b.yaml"),
  ]);
});
