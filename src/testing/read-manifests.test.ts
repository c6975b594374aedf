import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readManifests } from "./read-manifests.ts";

const yamlOf = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
const objectOf = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-read-manifests-"));
  await mkdir(join(directory, "deeper"));
  await mkdir(join(directory, "empty"));
  const files = {
    "b.yaml": `${yamlOf("b1")}---\n# nothing here\n---\n${yamlOf("b2")}`,
    "a.yml": yamlOf("a"),
    "c.json": JSON.stringify(objectOf("c")),
    "notes.md": "# no manifest",
    "deeper/d.yaml": yamlOf("d"),
    "empty/nothing.yaml": "# nothing here\n",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
});
afterAll(async () => rm(directory, { recursive: true }));

const namesIn = async (...sources: Array<string | URL | object>) =>
  (await readManifests(sources)).map(({ metadata }) => metadata.name);

describe("manifests", () => {
  it("are a directory's files by name, without its folders and other files", async () => {
    expect(await namesIn(directory)).toEqual(["a", "b1", "b2", "c"]);
  });

  it("are a file's documents, by its path or its URL", async () => {
    expect(await namesIn(join(directory, "b.yaml"))).toEqual(["b1", "b2"]);
    expect(await namesIn(pathToFileURL(join(directory, "c.json")))).toEqual(["c"]);
  });

  it.each([
    ["YAML", `${yamlOf("p")}---\n${yamlOf("q")}`],
    [
      "JSON on several lines",
      JSON.stringify({ apiVersion: "v1", kind: "List", items: [objectOf("p"), objectOf("q")] }, null, 2),
    ],
    ["JSON on one line", JSON.stringify([objectOf("p"), objectOf("q")])],
    ["an object", { apiVersion: "v1", kind: "ConfigMapList", items: [objectOf("p"), objectOf("q")] }],
    ["a list", [objectOf("p"), objectOf("q")]],
  ])("are text or objects: %s", async (_, source) => {
    expect(await namesIn(source)).toEqual(["p", "q"]);
  });

  it.each([["https://example.com/a.yaml"], [new URL("http://example.com/a.yaml")]])(
    "are not downloaded: %s",
    async (source) => {
      await expect(readManifests([source])).rejects.toMatchObject({
        code: "manifest-unreadable",
        message: `cannot read manifests, ${source}: nothing is downloaded: give a file of your own`,
      });
    },
  );

  it("come in the order of their sources", async () => {
    expect(await namesIn(objectOf("first"), join(directory, "a.yml"), yamlOf("last"))).toEqual(["first", "a", "last"]);
  });

  it("are copied as a client would send them", async () => {
    const time = new Date("2025-01-02T03:04:05Z");
    const source = { ...objectOf("x"), data: { at: time, nothing: undefined } };
    expect(await readManifests([source])).toEqual([{ ...objectOf("x"), data: { at: "2025-01-02T03:04:05.000Z" } }]);
  });

  it("may be none", async () => {
    expect(await readManifests([])).toEqual([]);
  });
});

describe("what cannot be read", () => {
  it.each([
    ["a path that leads nowhere", () => join(directory, "missing.yaml"), /missing\.yaml: ENOENT/],
    ["a directory without a manifest", () => join(directory, "empty"), /empty: there is no object in it/],
    ["YAML with a mistake", () => "a: [\n", /the text, document 1: line \d+, column \d+/],
    [
      "a document that is no object",
      () => `${yamlOf("x")}---\nkind: ConfigMap\n`,
      /document 2: a Kubernetes object has/,
    ],
    ["a list with something else in it", () => [objectOf("x"), "y"], /the object, item 2: a Kubernetes object has/],
  ])("is named: %s", async (_, source, message) => {
    await expect(readManifests([source()])).rejects.toMatchObject({
      code: "manifest-unreadable",
      message: expect.stringMatching(message),
    });
  });
});
