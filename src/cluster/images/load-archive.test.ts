import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CodedError } from "../../base/errors.ts";
import { computePauseImage } from "./build-images.ts";
import { buildImageArchive } from "./image-archive.ts";
import { loadArchive } from "./load-archive.ts";

let directory: string;
let named: Map<string, string>;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-load-"));
  named = new Map([["old:1", "sha256:a"]]);
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

/** Loads a file of this content into a runtime that finds these images in it. */
async function load(content: Buffer | string, found: Record<string, string>, failure?: string) {
  const path = join(directory, "images.tar");
  await writeFile(path, content);
  const importer = {
    async importArchive() {
      if (failure !== undefined) throw new CodedError("failed", failure);
      for (const [name, digest] of Object.entries(found)) named.set(name, digest);
      return Object.keys(found)
        .map((name) => `unpacking ${name} (sha256:0)...done`)
        .join("\n");
    },
    listNamed: async () => new Map(named),
  };
  return await loadArchive({ importer, isKnown: async () => true }, path);
}

test("an archive gives the names of its images, compressed or not, and of those that were there", async () => {
  const archive = await buildImageArchive(computePauseImage("amd64"));
  expect(await load(archive, { "new:1": "sha256:b" })).toEqual(["new:1"]);
  expect(await load(gzipSync(archive), { "old:1": "sha256:a", "new:2": "sha256:c" })).toEqual(["new:2", "old:1"]);
});

test.each<[string, () => Promise<unknown>, string, string]>([
  ["no archive", () => load("hello", {}), "unreadable", "images.tar: it is neither a tar file nor a compressed one"],
  ["empty", () => load("", {}), "unreadable", "images.tar: it is empty"],
  ["refused by the runtime", () => load(gzipSync("x"), {}, "unrecognized image format"), "refused", "unrecognized"],
  ["without a named image", () => load(gzipSync("x"), {}), "nameless", "docker save NAME:TAG"],
  [
    "not there",
    () =>
      loadArchive(
        { importer: { importArchive: async () => "", listNamed: async () => named }, isKnown: async () => true },
        "/none.tar",
      ),
    "unreadable",
    "/none.tar: there is no such file",
  ],
  [
    "a directory",
    () =>
      loadArchive(
        { importer: { importArchive: async () => "", listNamed: async () => named }, isKnown: async () => true },
        directory,
      ),
    "unreadable",
    "it is a directory",
  ],
])("a file that is %s is refused by its name", async (_what, attempt, code, message) => {
  await expect(attempt()).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});
