import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CodedError } from "../../base/errors.ts";
import { computePauseImage } from "./build-images.ts";
import { buildImageArchive } from "./image-archive.ts";
import { type ImportProgress, importArchiveFile } from "./import-archive.ts";
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

test("a program reads each archive as a plain tar file on its input, and it is told how far it is", async () => {
  const archive = await buildImageArchive(computePauseImage("amd64"));
  const path = join(directory, "images.tar.gz");
  const packed = gzipSync(archive);
  await writeFile(path, packed);
  const told: ImportProgress[] = [];
  const script = "cat > $0; printf 'unpacking new:1 (sha256:0)...'; echo done";
  const reader = { program: "sh", args: ["-c", script, join(directory, "read.tar")], timeoutMs: 60_000 };
  const said = await importArchiveFile(reader, { path, form: "gzip" }, (progress) => told.push(progress));
  expect(said).toContain("unpacking new:1");
  expect((await readFile(join(directory, "read.tar"))).equals(archive)).toBe(true);
  expect(told.at(-1)).toEqual({ doneBytes: packed.length, image: "new:1" });
});

test.each<[string, Buffer | string, string, string, RegExp]>([
  [
    "damaged",
    gzipSync("x".repeat(100_000)).subarray(0, 60),
    "cat > /dev/null",
    "damaged",
    /to its end: unexpected end/,
  ],
  ["refused by the program", gzipSync("x"), "echo no image; exit 3", "failed", /no image/],
  ["not read to its end", gzipSync(Buffer.alloc(8_000_000)), "exec 0<&-; echo too much; exit 1", "failed", /too much/],
])("an archive that is %s fails with what is wrong, and nothing is left waiting", async (_what, ...rest) => {
  const [content, script, code, words] = rest;
  const path = join(directory, "bad.tar.gz");
  await writeFile(path, content);
  const reader = { program: "sh", args: ["-c", script], timeoutMs: 60_000 };
  const failed = importArchiveFile(reader, { path, form: "gzip" }, () => undefined);
  await expect(failed).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
});

test("a program that is not there is named", async () => {
  const path = join(directory, "a.tar");
  await writeFile(path, "x");
  const reader = { program: "/none/ctr", args: [], timeoutMs: 60_000 };
  const failed = importArchiveFile(reader, { path, form: "tar" }, () => undefined);
  await expect(failed).rejects.toMatchObject({ code: "not-found", message: "/none/ctr is not installed" });
});

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
