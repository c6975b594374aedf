import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findTouchedCases, hasCases } from "./touched-cases.ts";

describe("findTouchedCases", () => {
  it.each([
    ["src/control-plane/registry/create.ts", ["api-ready", "api-create", "api-watch", "api-list", "api-memory"]],
    ["src/node/status/compute.ts", ["single", "cluster-single", "cluster-delete"]],
    ["src/node/storage/volumes/secret.ts", ["single", "cluster-single", "cluster-delete", "volumes-single"]],
    ["src/cli/main.ts", ["ready", "cluster-ready", "api-ready"]],
    ["src/proxy/loop/loop.ts", ["up-endpoints"]],
    ["docs/performance.md", []],
  ])("knows what a change of %s may slow", (path, cases) => {
    expect(findTouchedCases([path]).sort()).toEqual([...cases].sort());
  });

  it("names a case once, however many files touch it", () => {
    const cases = findTouchedCases(["src/node/a.ts", "src/node/b.ts", "src/cri/c.ts"]);
    expect(cases).toEqual([...new Set(cases)]);
  });

  it("leaves tests and fakes out", () => {
    expect(findTouchedCases(["src/node/pods/pleg/pleg.test.ts", "src/cri/fake/fake-state.ts"])).toEqual([]);
  });

  it("has a row for every folder of the sources", () => {
    const folders = readdirSync("src", { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => `src/${name}`).filter((folder) => !hasCases(folder))).toEqual([]);
  });
});
