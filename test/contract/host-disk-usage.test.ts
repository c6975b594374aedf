import { execFile } from "node:child_process";
import { link, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readDiskUsage } from "../../src/host/linux/files/disk-usage.ts";
import { createFakeHostHarness, createRealHostHarness, type HostHarness } from "./host-harness.ts";

const run = promisify(execFile);
const KIB = 1024;

let harness: HostHarness;
const path = (name: string) => `${harness.directory}/${name}`;
const put = async (name: string, size: number) => {
  await harness.host.files.makeDirectory(dirname(path(name)), 0o755);
  await harness.host.files.writeAtomically(path(name), Buffer.alloc(size, "x"), 0o644);
};
const usageOf = async (name: string) => await harness.host.files.diskUsage(path(name));
const bytesOf = async (name: string) => (await usageOf(name))?.bytes ?? -1;

describe.each([
  ["fake", createFakeHostHarness],
  ["node", async () => await createRealHostHarness()],
])("disk usage: %s", (_name, createHarness) => {
  beforeEach(async () => {
    harness = await createHarness();
  });
  afterEach(async () => harness.close());

  it("is nothing where nothing is", async () => {
    expect(await usageOf("absent")).toBeUndefined();
    await put("file", 1);
    expect(await usageOf("file/below")).toBeUndefined();
  });

  it("of a file is whole blocks", async () => {
    await put("file", 10 * KIB);
    expect(await usageOf("file")).toEqual({ bytes: 12 * KIB, inodes: 1, isWhole: true });
    await put("file", 0);
    expect(await usageOf("file")).toEqual({ bytes: 0, inodes: 1, isWhole: true });
  });

  it("of a tree is that of all that is in it, however deep", async () => {
    await harness.host.files.makeDirectory(path("tree/a/b/c"), 0o755);
    const empty = await bytesOf("tree");
    for (const name of ["tree/x", "tree/a/x", "tree/a/b/x", "tree/a/b/c/x"]) await put(name, 64 * KIB);
    expect(await usageOf("tree")).toEqual({ bytes: empty + 4 * 64 * KIB, inodes: 8, isWhole: true });
    expect(await bytesOf("tree/a/b")).toBeLessThan(await bytesOf("tree/a"));
  });

  it("does not count what links lead to", async () => {
    await put("outside/large", 256 * KIB);
    await harness.host.files.makeDirectory(path("tree"), 0o755);
    const before = await bytesOf("tree");
    await harness.makeSymlink(path("outside/large"), path("tree/to-file"));
    await harness.makeSymlink(path("outside"), path("tree/to-directory"));
    await harness.makeSymlink("nowhere", path("tree/dangling"));
    await harness.makeFifo(path("tree/fifo"));
    expect(await usageOf("tree")).toEqual({ bytes: before, inodes: 5, isWhole: true });
    expect(await usageOf("tree/to-directory")).toEqual({ bytes: 0, inodes: 1, isWhole: true });
  });

  it("leaves out what is mounted in the tree, but not what is mounted at its root", async ({ skip }) => {
    await harness.host.files.makeDirectory(path("tree/mounted"), 0o755);
    const before = await usageOf("tree");
    if (!(await harness.mount(path("tree/mounted")))) return skip();
    await put("tree/mounted/large", 256 * KIB);
    expect(await usageOf("tree")).toMatchObject({ inodes: 1 });
    expect((await usageOf("tree"))?.bytes).toBeLessThanOrEqual(before?.bytes ?? 0);
    expect(await bytesOf("tree/mounted")).toBeGreaterThanOrEqual(256 * KIB);
  });

  it("ends when it is told to", async () => {
    await put("tree/file", 1);
    const stopped = harness.host.files.diskUsage(path("tree"), AbortSignal.abort());
    await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
  });

  it("tells one file system from another by its device", async () => {
    await put("a/file", 1);
    const [file, root] = [await harness.host.files.stat(path("a/file")), await harness.host.files.stat(path("a"))];
    expect(file?.device).toBe(root?.device);
  });
});

describe("disk usage of what only a real disk has", () => {
  beforeEach(async () => {
    harness = await createRealHostHarness();
  });
  afterEach(async () => harness.close());

  it("counts a file of several names once, and no holes", async () => {
    await put("tree/file", 128 * KIB);
    const before = await usageOf("tree");
    for (const name of ["second", "third"]) await link(path("tree/file"), path(`tree/${name}`));
    expect(await usageOf("tree")).toEqual(before);
    await put("tree/hole", 0);
    await truncate(path("tree/hole"), 1024 ** 3);
    expect(await usageOf("tree")).toEqual({ ...before, inodes: (before?.inodes ?? 0) + 1 });
  });

  it("agrees with du, for names that are no text and directories nested by the hundred", async () => {
    const script = [
      "mkdir tree && cd tree",
      "i=0; while [ $i -lt 100 ]; do mkdir d && cd d && echo x > f; i=$((i+1)); done",
      "printf 'x' > \"$(printf 'odd\\377name')\"",
      "mkdir \"$(printf 'odd\\376directory')\" && head -c 9000 /dev/zero > \"$(printf 'odd\\376directory')/f\"",
    ].join("\n");
    await run("sh", ["-e", "-c", script], { cwd: harness.directory });
    const { stdout } = await run("du", ["-s", "--block-size=1", path("tree")]);
    expect(await usageOf("tree")).toMatchObject({ bytes: Number(stdout.split("\t")[0]), isWhole: true });
  });

  it("is the same however few directories may be remembered", async () => {
    const script =
      "for a in 1 2 3; do for b in 1 2 3; do mkdir -p tree/$a/$b/c/d; echo x > tree/$a/$b/c/d/f; done; done";
    await run("sh", ["-e", "-c", script], { cwd: harness.directory });
    const whole = await usageOf("tree");
    for (const maxWaiting of [0, 1, 2, 5]) {
      expect(await readDiskUsage(path("tree"), undefined, { maxWaiting })).toEqual(whole);
    }
  });

  it("is at least what was seen of a tree that is too deep", async () => {
    const deep = "d/".repeat(1_050);
    await run("sh", ["-e", "-c", `mkdir tree; cd tree; mkdir -p ${deep}; cd ${deep}; mkdir -p ${deep}`], {
      cwd: harness.directory,
    });
    const usage = await usageOf("tree");
    // What Node.js removes trees with cannot.
    await run("rm", ["-rf", path("tree")]);
    expect(usage?.isWhole).toBe(false);
    expect(usage?.inodes).toBeGreaterThan(2_048);
  });
});
