import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLibraryMountCalls } from "../../src/host/linux/mounts/library-mount-calls.ts";
import { createLinuxMounts } from "../../src/host/linux/mounts/linux-mounts.ts";
import { linuxPrograms } from "../../src/host/linux/system/linux-programs.ts";
import type { Mounts } from "../../src/host/mounts-port.ts";
import type { Files } from "../../src/host/port.ts";
import { createFakeHostHarness, createRealHostHarness, type HostHarness } from "./host-harness.ts";
import { mayMount } from "./host-mount-rights.ts";

let harness: HostHarness;
let directory: string;
let files: Files;
let mounts: Mounts;
const path = (name: string) => `${directory}/${name}`;
const read = async (name: string) => (await files.read(path(name), 1_000)).toString();
const write = async (name: string, text: string) => await files.writeAtomically(path(name), text, 0o644);
const make = async (...names: readonly string[]) => {
  for (const name of names) await files.makeDirectory(path(name), 0o755);
};
const mountedBelow = async () => {
  return (await mounts.list()).filter((entry) => entry.path.startsWith(`${directory}/`));
};

const HARNESSES = [
  ["fake", createFakeHostHarness, true],
  [
    "C library",
    async () => await createRealHostHarness(createLinuxMounts(linuxPrograms, async () => createLibraryMountCalls())),
    false,
  ],
  [
    "mount(8)",
    async () => await createRealHostHarness(createLinuxMounts(linuxPrograms, async (byPrograms) => byPrograms)),
    false,
  ],
] as const;

describe.each(HARNESSES)("mounts: %s", (_name, createHarness, isFake) => {
  describe.skipIf(!isFake && !mayMount())("(needs root with CAP_SYS_ADMIN on the real machine)", () => {
    beforeEach(async () => {
      harness = await createHarness();
      directory = harness.directory;
      ({ files, mounts } = harness.host);
    });
    afterEach(async () => {
      for (const entry of (await mountedBelow()).reverse()) await mounts.unmount(entry.path);
      await harness.close();
    });

    describe("memory and huge pages", describeMemory);
    describe("bind", describeBind);
    describe("bind beneath", describeBindBeneath);
    describe("bind beneath: what is refused", describeRefusals);
    describe("unmount", describeUnmount);
    describe("the table", describeTable);
  });
});

function describeMemory() {
  it("mounts memory once, readable for all, and takes it away with its content", async () => {
    await make("volume");
    await mounts.mountMemory(path("volume"), 1_048_576n);
    expect(await mounts.isMountPoint(path("volume"))).toBe(true);
    expect((await files.stat(path("volume")))?.mode).toBe(0o1777);
    await files.setGroup(path("volume"), 2_000, 0o3777);
    await mounts.mountMemory(path("volume"), 1_048_576n);
    expect((await files.stat(path("volume")))?.mode).toBe(0o3777);
    expect(await mountedBelow()).toMatchObject([{ path: path("volume"), type: "tmpfs", root: "/" }]);
    expect((await mountedBelow())[0]?.options).toContain("size=1024k");
    await write("volume/file", "content");
    await expect(files.remove(path("volume"))).rejects.toMatchObject({ code: "EBUSY" });
    await mounts.unmount(path("volume"));
    expect(await files.list(path("volume"))).toEqual([]);
    expect(await mounts.isMountPoint(path("volume"))).toBe(false);
  });

  it("mounts memory as large as the kernel likes", async () => {
    await make("volume");
    await mounts.mountMemory(path("volume"), undefined);
    expect(await mountedBelow()).toMatchObject([{ type: "tmpfs" }]);
  });

  it("mounts huge pages, which need not be there yet, and refuses a size that the kernel has not", async (context) => {
    const [size] = await harness.host.machine.hugepages();
    if (size === undefined) return context.skip("the kernel has no huge pages");
    await make("volume", "other");
    const { pageSizeBytes } = size;
    await mounts.mountHugepages(path("volume"), { pageSizeBytes, sizeBytes: undefined });
    await mounts.mountHugepages(path("volume"), { pageSizeBytes, sizeBytes: undefined });
    expect(await mountedBelow()).toMatchObject([{ path: path("volume"), type: "hugetlbfs" }]);
    expect((await mountedBelow())[0]?.options).toContain(`pagesize=${pageSizeBytes / 1_048_576n}M`);
    await mounts.mountHugepages(path("other"), { pageSizeBytes, sizeBytes: pageSizeBytes * 2n });
    await mounts.unmount(path("other"));
    const odd = { pageSizeBytes: 12_288n, sizeBytes: undefined };
    await expect(mounts.mountHugepages(path("other"), odd)).rejects.toMatchObject({ code: "EINVAL" });
  });

  it.each([
    ["nothing", "absent", "ENOENT"],
    ["a file", "file", "ENOTDIR"],
    ["a link to a directory", "link", "ELOOP"],
    ["a place below a file", "file/below", "ENOTDIR"],
  ])("refuses to mount over %s, and names the path", async (_what, name, code) => {
    await make("directory");
    await write("file", "");
    await files.link(path("directory"), path("link"));
    const refused = { code, message: expect.stringContaining(path(name)) };
    await expect(mounts.mountMemory(path(name), undefined)).rejects.toMatchObject(refused);
    expect(await mountedBelow()).toEqual([]);
  });
}

function describeBind() {
  it("shows a directory at another, both ways", async () => {
    await make("source", "target");
    await write("source/file", "before");
    await write("target/hidden", "hidden");
    await mounts.bind(path("source"), path("target"));
    expect(await read("target/file")).toBe("before");
    await write("target/file", "through the target");
    await write("source/new", "new");
    expect([await read("source/file"), await read("target/new")]).toEqual(["through the target", "new"]);
    await mounts.unmount(path("target"));
    expect(await read("target/hidden")).toBe("hidden");
    expect(await read("source/new")).toBe("new");
  });

  it("shows a file at a file, and refuses to mix the kinds", async () => {
    await make("directory");
    await write("source", "shown");
    await write("target", "hidden");
    await mounts.bind(path("source"), path("target"));
    expect(await read("target")).toBe("shown");
    expect(await mounts.isMountPoint(path("target"))).toBe(true);
    await mounts.unmount(path("target"));
    expect(await read("target")).toBe("hidden");
    await expect(mounts.bind(path("source"), path("directory"))).rejects.toMatchObject({ code: "ENOTDIR" });
    await expect(mounts.bind(path("directory"), path("target"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it("follows links of the source and none at the target", async () => {
    await make("source", "target");
    await write("source/file", "shown");
    await files.link(path("source"), path("to-source"));
    await files.link(path("target"), path("to-target"));
    await mounts.bind(path("to-source"), path("target"));
    expect(await read("target/file")).toBe("shown");
    await mounts.unmount(path("target"));
    await expect(mounts.bind(path("source"), path("to-target"))).rejects.toMatchObject({ code: "ELOOP" });
    expect(await mountedBelow()).toEqual([]);
  });

  it("shows what is mounted below the source as well", async () => {
    await make("source/memory", "target");
    await mounts.mountMemory(path("source/memory"), undefined);
    await write("source/memory/file", "in memory");
    await mounts.bind(path("source"), path("target"));
    expect(await read("target/memory/file")).toBe("in memory");
    await mounts.unmount(path("target"));
    expect(await read("source/memory/file")).toBe("in memory");
  });

  it("shows it read-only there and writable at its source", async () => {
    await make("source", "target");
    await mounts.bind(path("source"), path("target"), { readOnly: true });
    await write("source/file", "shown");
    expect(await read("target/file")).toBe("shown");
    await expect(write("target/file", "no")).rejects.toMatchObject({ code: "EROFS" });
    expect((await mountedBelow())[0]?.options).toContain("ro");
  });

  it.each([
    ["source", "absent", "target"],
    ["target", "source", "absent"],
  ])("says that the %s is missing", async (_which, source, target) => {
    await make("source", "target");
    await expect(mounts.bind(path(source), path(target))).rejects.toMatchObject({
      code: "ENOENT",
      message: expect.stringContaining(path("absent")),
    });
  });
}

/** A volume with all that a container may put there; everything below `outside` must never be shown. */
async function makeVolume(): Promise<void> {
  await make("outside/data", "volume/data/deep", "volume/other");
  await write("outside/secret", "outside");
  await write("outside/data/name", "outside");
  await write("volume/data/name", "data");
  await write("volume/data/deep/name", "deep");
  await write("volume/name", "volume");
  const links: Record<string, string> = {
    "volume/relative": "data",
    "volume/chain": "relative/deep",
    "volume/dots": "./other/.././data//deep/",
    "volume/data/up": "..",
    "volume/data/deep/across": "../../data/name",
    "volume/absolute": path("volume/data"),
    "volume/absolute-root": path("volume"),
    "volume/data/absolute-back": path("volume/data/deep"),
    "volume/to-file": "data/name",
    "volume/out": path("outside"),
    "volume/out-relative": "../outside",
    "volume/out-and-in": "../volume/data",
    "volume/out-root": "/",
    "volume/out-prefix": path("volume-of-another"),
    "volume/data/deep/out": ["..", "..", "..", "outside/data"].join("/"),
    "volume/loop": "loop",
    "volume/loop-a": "loop-b",
    "volume/loop-b": "loop-a",
    "volume/dangling": "made/by/mkdir",
    "volume/dangling-out": "../made",
    "volume/under-file": "name/below",
  };
  for (const [name, target] of Object.entries(links)) await harness.makeSymlink(target, path(name));
  await make("targets");
}

const bindBeneath = async (below: string, directoryMode?: number) =>
  await mounts.bindBeneath({ root: path("volume"), path: below, target: path("targets/0"), directoryMode });

function describeBindBeneath() {
  beforeEach(makeVolume);

  it.each([
    ["", "directory", "volume"],
    [".", "directory", "volume"],
    ["data", "directory", "data"],
    ["data/deep", "directory", "deep"],
    ["data//./deep/", "directory", "deep"],
    ["relative", "directory", "data"],
    ["chain", "directory", "deep"],
    ["dots", "directory", "deep"],
    ["data/up", "directory", "volume"],
    ["data/up/relative/up/chain", "directory", "deep"],
    ["absolute", "directory", "data"],
    ["absolute/deep", "directory", "deep"],
    ["absolute-root", "directory", "volume"],
    ["data/up/absolute-root/data/absolute-back", "directory", "deep"],
    ["name", "file", "volume"],
    ["to-file", "file", "data"],
    ["data/deep/across", "file", "data"],
  ])("shows '%s'", async (below, type, content) => {
    expect(await bindBeneath(below)).toEqual({ type });
    expect(await read(type === "file" ? "targets/0" : "targets/0/name")).toBe(content);
    expect((await files.stat(path("targets/0")))?.type).toBe(type);
    expect(await mountedBelow()).toHaveLength(1);
  });

  it("shows sockets and FIFOs, and waits for nobody", async () => {
    await harness.makeSocket(path("volume/socket"));
    await harness.makeFifo(path("volume/fifo"));
    expect(await bindBeneath("socket")).toEqual({ type: "socket" });
    expect((await files.stat(path("targets/0")))?.type).toBe("socket");
    expect(await bindBeneath("fifo")).toEqual({ type: "other" });
    expect((await files.stat(path("targets/0")))?.type).toBe("other");
  });

  it("makes directories that are missing, with their mode, behind links too", async () => {
    expect(await bindBeneath("new/er/est", 0o2775)).toEqual({ type: "directory" });
    await write("targets/0/file", "in the volume");
    expect(await read("volume/new/er/est/file")).toBe("in the volume");
    for (const name of ["new", "new/er", "new/er/est"]) {
      expect((await files.stat(path(`volume/${name}`)))?.mode).toBe(0o2775);
    }
    await bindBeneath("dangling", 0o750);
    expect((await files.stat(path("volume/made/by/mkdir")))?.mode).toBe(0o750);
    expect((await files.stat(path("volume/data")))?.mode).toBe(0o755);
  });

  it("shows what is mounted below, and the volume through a link above it", async () => {
    await make("volume/data/memory");
    await mounts.mountMemory(path("volume/data/memory"), undefined);
    await write("volume/data/memory/name", "memory");
    await harness.makeSymlink(path("volume"), path("to-volume"));
    await mounts.bindBeneath({ root: path("to-volume"), path: "absolute", target: path("targets/0") });
    expect(await read("targets/0/memory/name")).toBe("memory");
    await mounts.unmount(path("targets/0"));
    await mounts.bindBeneath({ root: path("to-volume"), path: "data/memory", target: path("targets/0") });
    expect(await read("targets/0/name")).toBe("memory");
    await mounts.unmount(path("targets/0"));
    expect(await read("volume/data/memory/name")).toBe("memory");
  });

  it("replaces what was shown there, of another kind too, and goes on showing what was opened", async () => {
    await bindBeneath("data");
    await bindBeneath("name");
    expect(await read("targets/0")).toBe("volume");
    await bindBeneath("data/deep");
    expect(await read("targets/0/name")).toBe("deep");
    expect(await mountedBelow()).toHaveLength(1);
    await harness.rename(path("volume/data/deep"), path("volume/moved"));
    await harness.makeSymlink(path("outside"), path("volume/data/deep"));
    expect(await read("targets/0/name")).toBe("deep");
  });

  it("shows a root that is a file", async () => {
    const request = { root: path("volume/name"), path: "", target: path("targets/0") };
    expect(await mounts.bindBeneath(request)).toEqual({ type: "file" });
    expect(await read("targets/0")).toBe("volume");
  });
}

function describeRefusals() {
  beforeEach(makeVolume);

  it.each([
    ["..", "EINVAL"],
    ["data/../..", "EINVAL"],
    ["data/..", "EINVAL"],
    ["/etc", "EINVAL"],
    ["out", "EXDEV"],
    ["out/data", "EXDEV"],
    ["out-relative", "EXDEV"],
    ["out-and-in", "EXDEV"],
    ["out-root", "EXDEV"],
    ["out-prefix", "EXDEV"],
    ["data/deep/out", "EXDEV"],
    ["relative/up/data/deep/out", "EXDEV"],
    ["dangling-out", "EXDEV"],
    ["loop", "ELOOP"],
    ["loop-a/x", "ELOOP"],
    ["name/below", "ENOTDIR"],
    ["under-file", "ENOTDIR"],
    ["to-file/below", "ENOTDIR"],
  ])("refuses '%s' with %s, also when it may make directories", async (below, code) => {
    for (const mode of [undefined, 0o755]) {
      await expect(bindBeneath(below, mode)).rejects.toMatchObject({ code, message: expect.stringContaining(below) });
    }
    expect(await mountedBelow()).toEqual([]);
    expect(await files.stat(path("made"))).toBeUndefined();
    expect(await files.list(path("targets"))).toEqual([]);
  });

  it.each(["missing", "data/missing/x", "dangling"])("does not make '%s' unless it is told to", async (below) => {
    await expect(bindBeneath(below)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await files.list(path("targets"))).toEqual([]);
  });

  it("refuses a target that is a link or whose directory is missing", async () => {
    await files.link(path("outside/data"), path("targets/0"));
    await expect(bindBeneath("data")).rejects.toMatchObject({ code: "ELOOP" });
    const nowhere = { root: path("volume"), path: "data", target: path("no/where") };
    await expect(mounts.bindBeneath(nowhere)).rejects.toMatchObject({ code: "ENOENT" });
    const rootless = { root: path("no-volume"), path: "", target: path("targets/1") };
    await expect(mounts.bindBeneath(rootless)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await read("outside/data/name")).toBe("outside");
    expect(await mountedBelow()).toEqual([]);
  });

  it("keeps a target that holds something", async () => {
    await make("targets/0");
    await write("targets/0/kept", "kept");
    await expect(bindBeneath("name")).rejects.toMatchObject({ code: "ENOTEMPTY" });
    expect(await read("targets/0/kept")).toBe("kept");
  });
}

function describeUnmount() {
  it("minds nothing that is not mounted", async () => {
    await make("directory");
    await write("file", "");
    for (const name of ["directory", "file", "absent", "absent/below", "file/below"]) {
      await mounts.unmount(path(name));
      expect(await mounts.isMountPoint(path(name))).toBe(false);
    }
  });

  it.each([false, true])("does what else it does with isLocal %s", async (isLocal) => {
    await make("volume");
    await mounts.unmount(path("volume"), { isLocal });
    await mounts.mountMemory(path("volume"), undefined);
    await make("volume/sub");
    await mounts.mountMemory(path("volume/sub"), undefined);
    await files.link(path("volume"), path("link"));
    await mounts.unmount(path("link"), { isLocal });
    expect(await mountedBelow()).toHaveLength(2);
    await mounts.unmount(path("volume"), { isLocal });
    expect(await mountedBelow()).toEqual([]);
  });

  it("unmounts nothing through a link", async () => {
    await make("volume");
    await mounts.mountMemory(path("volume"), undefined);
    await write("volume/file", "kept");
    await files.link(path("volume"), path("link"));
    expect(await mounts.isMountPoint(path("link"))).toBe(false);
    await mounts.unmount(path("link"));
    expect(await read("volume/file")).toBe("kept");
  });

  it("unmounts all that is stacked and all that is below", async () => {
    await make("a", "b", "target", "neighbour");
    await write("a/name", "a");
    await make("b/sub/deep");
    await mounts.mountMemory(path("neighbour"), undefined);
    await mounts.bind(path("a"), path("target"));
    await mounts.bind(path("b"), path("target"));
    await mounts.bind(path("b"), path("target"));
    await mounts.mountMemory(path("target/sub"), undefined);
    await make("target/sub/inner");
    await mounts.mountMemory(path("target/sub/inner"), undefined);
    await mounts.bind(path("a"), path("target/sub/inner"));
    expect(await read("target/sub/inner/name")).toBe("a");
    await mounts.unmount(path("target"));
    expect(await files.list(path("target"))).toEqual([]);
    expect((await mountedBelow()).map((entry) => entry.path)).toEqual([path("neighbour")]);
    expect(await files.list(path("b/sub"))).toEqual([{ name: "deep", type: "directory" }]);
  });

  it.each([false, true])("says that it is busy, and unmounts it when it is let go (isLocal %s)", async (isLocal) => {
    await make("volume");
    await mounts.mountMemory(path("volume"), undefined);
    await write("volume/file", "used");
    const release = await harness.hold(path("volume/file"));
    await expect(mounts.unmount(path("volume"), { isLocal })).rejects.toMatchObject({
      code: "EBUSY",
      message: expect.stringContaining(path("volume")),
    });
    expect(await read("volume/file")).toBe("used");
    await release();
    await mounts.unmount(path("volume"));
    expect(await mountedBelow()).toEqual([]);
  });
}

function describeTable() {
  it("knows the root, and no two mounts of one id", async () => {
    const entries = await mounts.list();
    expect(entries.some((entry) => entry.path === "/")).toBe(true);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(await mounts.isMountPoint("/")).toBe(true);
  });

  it("tells names apart that the kernel writes in another way", async () => {
    const odd = 'with space\tand tab\\040 "and" # ü';
    await make(odd, "shown/at");
    await mounts.mountMemory(path(odd), undefined);
    await mounts.bind(path("shown"), path(`${odd}`));
    expect((await mountedBelow()).map((entry) => entry.path)).toEqual([path(odd), path(odd)]);
    await mounts.unmount(path(odd));
    expect(await mountedBelow()).toEqual([]);
  });

  it("follows what is shown and where, through the mount above it", async () => {
    await make("source/sub", "target");
    await mounts.mountMemory(path("source"), undefined);
    await make("source/sub");
    await mounts.bind(path("source/sub"), path("target"));
    const [memory, shown] = await mountedBelow();
    expect(shown).toMatchObject({ root: "/sub", path: path("target"), type: "tmpfs", source: "tmpfs" });
    expect(shown?.device).toBe(memory?.device);
    expect(shown?.parentId).toBe(memory?.parentId);
  });
}
