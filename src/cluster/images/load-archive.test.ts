import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CodedError } from "../../base/errors.ts";
import { runCommand } from "../processes/run-command.ts";
import type { ArchiveImporter } from "./archive-importer.ts";
import { computePauseImage } from "./build-images.ts";
import { buildImageArchive } from "./image-archive.ts";
import { type ImportProgress, importArchiveFile } from "./import-archive.ts";
import { loadArchive } from "./load-archive.ts";
import { type OpenArchive, openArchive } from "./read-archive.ts";

/** Begins as a tar file does. */
const tarOf = (length: number) => Buffer.concat([Buffer.alloc(257), Buffer.from("ustar"), Buffer.alloc(length, "x")]);

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
  return await loadNamed(path, importer);
}

const EMPTY_IMPORTER = { importArchive: async () => "", listNamed: async () => named };
const loadNamed = async (path: string, importer: ArchiveImporter = EMPTY_IMPORTER) =>
  await loadArchive({ importer, isKnown: async () => true, platform: "linux/amd64" }, { path, title: path });

async function openFile(path: string, content: Buffer | string): Promise<OpenArchive> {
  await writeFile(path, content);
  const archive = await openArchive(path);
  if ("problem" in archive) throw new Error(archive.problem);
  return archive;
}

test("a program reads each archive as a plain tar file on its input, and it is told how far it is", async () => {
  const archive = await buildImageArchive(computePauseImage("amd64"));
  const path = join(directory, "images.tar.gz");
  const packed = gzipSync(archive);
  const told: ImportProgress[] = [];
  const script = "cat > $0; printf 'unpacking new:1 (sha256:0)...'; echo done";
  const reader = { program: "sh", args: ["-c", script, join(directory, "read.tar")], timeoutMs: 60_000 };
  const said = await importArchiveFile(reader, await openFile(path, packed), (progress) => told.push(progress));
  expect(said).toContain("unpacking new:1");
  expect((await readFile(join(directory, "read.tar"))).equals(archive)).toBe(true);
  expect(told.at(-1)).toEqual({ doneBytes: packed.length, image: "new:1" });
});

test.each<[string, Buffer | string, string, string, RegExp]>([
  ["damaged", gzipSync(tarOf(100_000)).subarray(0, -20), "cat > /dev/null", "damaged", /to its end: unexpected end/],
  [
    "compressed and no tar file",
    gzipSync("x".repeat(9_000)),
    "cat > /dev/null",
    "damaged",
    /^what gzip has compressed is no tar file$/,
  ],
  ["compressed and empty", gzipSync(""), "cat > /dev/null", "damaged", /^what gzip has compressed is no tar file$/],
  ["refused by the program", gzipSync(tarOf(600)), "echo no image; exit 3", "failed", /no image/],
  ["not read to its end", gzipSync(tarOf(8_000_000)), "exec 0<&-; echo too much; exit 1", "failed", /too much/],
])("an archive that is %s fails with what is wrong, and nothing is left waiting", async (_what, ...rest) => {
  const [content, script, code, words] = rest;
  const path = join(directory, "bad.tar.gz");
  const reader = { program: "sh", args: ["-c", script], timeoutMs: 60_000 };
  const failed = importArchiveFile(reader, await openFile(path, content), () => undefined);
  await expect(failed).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
});

test("a program that is not there is named", async () => {
  const path = join(directory, "a.tar.gz");
  const reader = { program: "/none/ctr", args: [], timeoutMs: 60_000 };
  const failed = importArchiveFile(reader, await openFile(path, gzipSync("x")), () => undefined);
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
  ["compressed by xz", () => load(Buffer.from("fd377a585a0000", "hex"), {}), "unreadable", "xz -d FILE"],
  ["not there", () => loadNamed("/none.tar"), "unreadable", "/none.tar: there is no such file"],
  ["a directory", () => loadNamed(directory), "unreadable", "it is a directory"],
  ["a terminal or the like", () => loadNamed("/dev/null"), "unreadable", "/dev/null: it is no file and no pipe"],
])("a file that is %s is refused by its name", async (_what, attempt, code, message) => {
  await expect(attempt()).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});

test.each([
  ["as it is", (archive: Buffer) => archive],
  ["compressed", (archive: Buffer) => gzipSync(archive)],
])("an archive that the runtime refuses, %s, is told by the platforms of its images", async (_what, write) => {
  const foreign = write(await buildImageArchive(computePauseImage("arm64")));
  const expected = "its images are for linux/arm64, and this machine runs those for linux/amd64: ";
  const message = expect.stringContaining(`${expected}build or pull it with --platform linux/amd64`);
  await expect(load(foreign, {}, "image might be filtered out")).rejects.toMatchObject({ code: "refused", message });
  const own = write(await buildImageArchive(computePauseImage("amd64")));
  await expect(load(own, {}, "no space left")).rejects.toThrow(
    "the runtime cannot read it as an archive of images: no",
  );
});

test("an archive comes through a pipe, piece by piece", async () => {
  const [archive, pipe] = [await buildImageArchive(computePauseImage("amd64")), join(directory, "pipe")];
  await runCommand("mkfifo", [pipe]);
  const read: Buffer[] = [];
  const importer = {
    ...EMPTY_IMPORTER,
    async importArchive({ form, bytes }: OpenArchive) {
      expect(form).toBe("tar");
      for await (const chunk of bytes) read.push(chunk);
      named.set("new:1", "sha256:b");
      return "";
    },
    listNamed: async () => new Map(named),
  };
  const loaded = loadNamed(pipe, importer);
  const writer = await open(pipe, "w");
  for (const [from, to] of [
    [0, 100],
    [100, 700],
    [700, archive.length],
  ])
    await writer.write(archive.subarray(from, to));
  await writer.close();
  expect(await loaded).toEqual(["new:1"]);
  expect(Buffer.concat(read).equals(archive)).toBe(true);
});
