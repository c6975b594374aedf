import { beforeEach, describe, expect, test } from "vitest";
import { createFakeHost } from "../../host/fake/create-fake-host.ts";
import { createManifestDirectory, type ManifestDirectory } from "./manifest-directory.ts";

const PATH = "/manifests";
const map = (name: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}}`;

let files: ReturnType<typeof createFakeHost>["files"];
let directory: ManifestDirectory;
beforeEach(() => {
  ({ files } = createFakeHost());
  files.put(`${PATH}/a.yaml`, map("a"));
  directory = createManifestDirectory(files, { path: PATH, refusesForeign: false });
});

const read = async (from = directory) => {
  const found = await from.read();
  if ("problem" in found) return found.problem;
  return found.map(({ file, objects, problem }) => [file, problem ?? objects.map(({ metadata }) => metadata.name)]);
};

test("the objects are those of the files by name; hidden files and directories are passed over", async () => {
  files.put(
    `${PATH}/b.json`,
    `{"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {}, "items": [{"metadata": {"name": "b"}}]}`,
  );
  files.put(`${PATH}/.hidden`, map("hidden"));
  files.put(`${PATH}/deeper/c.yaml`, map("c"));
  expect(await read()).toEqual([
    ["a.yaml", ["a"]],
    ["b.json", ["b"]],
  ]);
});

test("a file that did not change is the same value, and so is one that is as bad as before", async () => {
  files.put(`${PATH}/bad.yaml`, "[");
  const first = await directory.read();
  const second = await directory.read();
  if ("problem" in first || "problem" in second) throw new Error("the directory cannot be read");
  expect(second.map((one, index) => one === first[index])).toEqual([true, true]);
  files.put(`${PATH}/a.yaml`, map("changed"));
  expect(await read()).toEqual([
    ["a.yaml", ["changed"]],
    ["bad.yaml", expect.stringContaining("document 1")],
  ]);
});

describe("nothing is known", () => {
  test("of a directory that is gone", async () => {
    files.delete(PATH);
    expect(await read()).toContain("ENOENT");
  });

  test("of a directory that cannot be read", async () => {
    files.intercept(({ operation }) => {
      if (operation === "list") throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    });
    expect(await read()).toContain("EIO");
  });
});

test.each([
  [
    "an object without a name",
    "{apiVersion: v1, kind: ConfigMap, metadata: {}}",
    /^document 2: ConfigMap of v1: metadata\.name: Required/,
  ],
  ["something that is no object", "just text", /^document 2: expected/],
  ["a pod that cannot be decoded", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: 5}", /^document 2: spec/],
])("a file with %s is not used in part", async (_what, text, problem) => {
  files.put(`${PATH}/a.yaml`, `${map("good")}\n---\n${text}\n`);
  expect(await read()).toEqual([["a.yaml", expect.stringMatching(problem)]]);
});

test("an empty file is one that is being written", async () => {
  files.put(`${PATH}/a.yaml`, "\n");
  expect(await read()).toEqual([["a.yaml", "it holds no object"]]);
});

test("a file that others may change is refused where that is asked for", async () => {
  const strict = createManifestDirectory(files, { path: PATH, refusesForeign: true });
  files.delete(`${PATH}/a.yaml`);
  files.put(`${PATH}/a.yaml`, map("a"), 0o666);
  expect(await read(strict)).toEqual([["a.yaml", "refused: everybody may write to it (mode 0666)"]]);
  expect(await read()).toEqual([["a.yaml", ["a"]]]);
});
