import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLibraryMountCalls } from "../../src/host/linux/mounts/library-mount-calls.ts";
import { createLinuxMounts } from "../../src/host/linux/mounts/linux-mounts.ts";
import type { MountCalls } from "../../src/host/linux/mounts/mount-calls.ts";
import { linuxPrograms } from "../../src/host/linux/system/linux-programs.ts";
import type { Mounts } from "../../src/host/mounts-port.ts";
import { mayMount } from "./host-mount-rights.ts";

const run = promisify(execFile);
let directory: string;
let mounts: Mounts;
let undo: Array<() => Promise<unknown>>;
const path = (name: string) => `${directory}/${name}`;
const make = async (...names: readonly string[]) => {
  for (const name of names) await mkdir(path(name), { recursive: true });
};
const mountedBelow = async () => (await mounts.list()).filter((entry) => entry.path.startsWith(`${directory}/`));
const optionsOf = async (name: string) =>
  (await mountedBelow()).findLast((entry) => entry.path === path(name))?.options;
const countDescriptors = async () => (await readdir("/proc/self/fd")).length;

/** What only a real kernel does. */
describe.skipIf(!mayMount()).each([
  ["C library", async () => createLibraryMountCalls()],
  ["mount(8)", async (byPrograms: MountCalls) => byPrograms],
])("mounts on Linux, by %s (needs root with CAP_SYS_ADMIN)", (name, loadCalls) => {
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-mounts-"));
    mounts = createLinuxMounts(linuxPrograms, loadCalls);
    undo = [];
  });
  afterEach(async () => {
    for (const step of undo.reverse()) await step();
    for (const entry of (await mountedBelow()).reverse()) await run("umount", ["-l", entry.path]);
    await rm(directory, { recursive: true });
  });

  describe("flags and peers", describeFlags);
  describe("races", () => describeRaces(name === "C library" ? 2_000 : 100));
  describe("a file system that hangs", describeHanging);
});

describe.skipIf(!mayMount())("file systems on block devices (needs root with CAP_SYS_ADMIN)", () => {
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-mounts-"));
    mounts = createLinuxMounts(linuxPrograms);
    undo = [];
  });
  afterEach(async () => {
    for (const entry of (await mountedBelow()).reverse()) await run("umount", ["-l", entry.path]);
    for (const step of undo.reverse()) await step();
    await rm(directory, { recursive: true });
  });
  describeFileSystems();
});

function describeFlags() {
  it("keeps what the source's mount forbids when it makes a bind mount read-only", async () => {
    await make("source", "target", "plain");
    await run("mount", ["-t", "tmpfs", "-o", "nosuid,nodev,noexec,noatime", "tmpfs", path("source")]);
    await mounts.bind(path("source"), path("target"), { readOnly: true });
    expect(await optionsOf("target")).toEqual(expect.arrayContaining(["ro", "nosuid", "nodev", "noexec", "noatime"]));
    await writeFile(path("source/file"), "writable at its source");
    await mounts.bind(path("source"), path("plain"));
    await writeFile(path("plain/file"), "writable here too");
  });

  it("never swaps memory where the kernel can promise that, and keeps to its size", async () => {
    await make("memory");
    await mounts.mountMemory(path("memory"), 65_536n);
    const [major = 0, minor = 0] = (await readFile("/proc/sys/kernel/osrelease", "latin1")).split(".").map(Number);
    const canForbidSwap = major > 6 || (major === 6 && minor >= 4);
    expect((await optionsOf("memory"))?.includes("noswap")).toBe(canForbidSwap);
    await expect(writeFile(path("memory/file"), "x".repeat(65_537))).rejects.toMatchObject({ code: "ENOSPC" });
  });

  it("leaves the source's mounts alone when a bind mount that shares with it goes", async () => {
    await make("shared");
    await run("mount", ["-t", "tmpfs", "tmpfs", path("shared")]);
    await run("mount", ["--make-shared", path("shared")]);
    await make("shared/source/memory/inner", "shared/target", "target");
    await mounts.mountMemory(path("shared/source/memory"), undefined);
    await make("shared/source/memory/inner");
    await mounts.mountMemory(path("shared/source/memory/inner"), undefined);
    await writeFile(path("shared/source/memory/inner/file"), "kept");
    for (const target of ["shared/target", "target"]) {
      await mounts.bind(path("shared/source"), path(target));
      expect((await stat(path(`${target}/memory/inner/file`))).size).toBe(4);
      await mounts.unmount(path(target));
      expect(await readdir(path(target))).toEqual([]);
      expect(await readFile(path("shared/source/memory/inner/file"), "utf8")).toBe("kept");
    }
  });
}

/** Exchanges two names without end, as fast as it can; gives how to stop it. */
async function exchangeForever(a: string, b: string): Promise<() => Promise<void>> {
  const program = 'my ($a, $b) = @ARGV; $| = 1; print "x"; while (1) { syscall(316, -100, $a, -100, $b, 2) }';
  const child: ChildProcess = spawn("perl", ["-e", program, a, b], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
}

function describeRaces(times: number) {
  it(`CVE-2021-25741: shows nothing outside while a container exchanges a directory for a link (${times} times)`, async () => {
    await make("outside/sub", "volume/a/sub", "targets");
    await writeFile(path("outside/sub/name"), "outside");
    await writeFile(path("volume/a/sub/name"), "inside");
    await symlink(path("outside"), path("volume/b"));
    const descriptors = await countDescriptors();
    const stop = await exchangeForever(path("volume/a"), path("volume/b"));
    const outcomes = { shown: 0, refused: 0 };
    try {
      for (let index = 0; index < times; index++) {
        const target = path(`targets/${index % 8}`);
        const request = { root: path("volume"), path: index % 2 === 0 ? "a/sub" : "a", target };
        try {
          await mounts.bindBeneath(request);
          const name = index % 2 === 0 ? "name" : "sub/name";
          expect(await readFile(`${target}/${name}`, "utf8")).toBe("inside");
          outcomes.shown++;
        } catch (error) {
          expect(error).toMatchObject({ code: "EXDEV" });
          outcomes.refused++;
        }
        await mounts.unmount(target);
      }
    } finally {
      await stop();
    }
    // Both must have happened, or there was no race.
    expect(Math.min(outcomes.shown, outcomes.refused)).toBeGreaterThan(times / 100);
    expect(await mountedBelow()).toEqual([]);
    expect(await countDescriptors()).toBe(descriptors);
  });

  it("makes directories in nothing but the volume meanwhile", async () => {
    await make("outside", "volume/a", "targets");
    await symlink(path("outside"), path("volume/b"));
    const stop = await exchangeForever(path("volume/a"), path("volume/b"));
    try {
      for (let index = 0; index < times / 4; index++) {
        const request = { root: path("volume"), path: `a/made-${index}/deep`, target: path("targets/0") };
        await mounts.bindBeneath({ ...request, directoryMode: 0o777 }).catch((error: unknown) => {
          expect(error).toMatchObject({ code: "EXDEV" });
        });
      }
    } finally {
      await stop();
    }
    await mounts.unmount(path("targets/0"));
    expect(await readdir(path("outside"))).toEqual([]);
  });

  it("shows what was opened when its name is taken by something else before the mount", async () => {
    await make("outside", "volume/data", "targets");
    await writeFile(path("outside/name"), "outside");
    await writeFile(path("volume/data/name"), "inside");
    const calls = createLibraryMountCalls();
    const slow = createLinuxMounts(linuxPrograms, async () => ({
      ...calls,
      async mount(call) {
        await rename(path("volume/data"), path("volume/moved"));
        await symlink(path("outside"), path("volume/data"));
        await calls.mount(call);
      },
    }));
    await slow.bindBeneath({ root: path("volume"), path: "data", target: path("targets/0") });
    expect(await readFile(path("targets/0/name"), "utf8")).toBe("inside");
  });

  it("takes back a mount that shows something else than what was opened", async () => {
    await make("outside", "volume/data", "targets");
    const calls = createLibraryMountCalls();
    const wrong = createLinuxMounts(linuxPrograms, async () => ({
      ...calls,
      async mount(call) {
        const fd = openSync(path("outside"), "r");
        await calls.mount({ ...call, source: { fd } });
        closeSync(fd);
      },
    }));
    const request = { root: path("volume"), path: "data", target: path("targets/0") };
    await expect(wrong.bindBeneath(request)).rejects.toMatchObject({ code: "EXDEV" });
    expect(await mountedBelow()).toEqual([]);
  });
}

/** Mounts a file system whose process never answers. */
async function mountHung(at: string): Promise<void> {
  const device = openSync("/dev/fuse", "r+");
  const options = "fd=3,rootmode=40000,user_id=0,group_id=0";
  const child = spawn("mount", ["-i", "-t", "fuse", "-o", options, "hung", at], {
    stdio: ["ignore", "inherit", "inherit", device],
  });
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
  undo.push(async () => closeSync(device));
}

function describeHanging() {
  beforeEach(async () => {
    await make("volume/hung", "volume/memory", "target");
    await mountHung(path("volume/hung"));
  });

  it("is seen in the table and as a mount point without being asked", async () => {
    expect(await mounts.isMountPoint(path("volume/hung"))).toBe(true);
    expect(await optionsOf("volume/hung")).toContain("rw");
    await expect(mounts.mountMemory(path("volume/hung"), undefined)).resolves.toBeUndefined();
    await mounts.unmount(path("volume/hung"));
    expect(await mounts.isMountPoint(path("volume/hung"))).toBe(false);
  });

  it("holds up neither what is mounted beside it nor over it", async () => {
    await mounts.mountMemory(path("volume/memory"), undefined);
    await mounts.bind(path("volume"), path("target"));
    expect((await mountedBelow()).map((entry) => entry.path)).toContain(path("target/hung"));
    await mounts.unmount(path("target"));
    await mounts.unmount(path("volume/memory"));
    expect((await mountedBelow()).map((entry) => entry.path)).toEqual([path("volume/hung")]);
  });

  it("is let go while a process hangs in it, or it is said that it is busy", async () => {
    const stuck = spawn("stat", [path("volume/hung/file")], { stdio: "ignore" });
    const exited = once(stuck, "exit");
    await expect.poll(async () => readFile(`/proc/${stuck.pid}/stat`, "latin1")).toMatch(/\) [DS] /);
    await expect(mounts.unmount(path("volume/hung"), { timeoutMs: 5_000 })).rejects.toMatchObject({
      code: expect.stringMatching(/^(EBUSY|ETIMEDOUT)$/),
    });
    await run("umount", ["-f", path("volume/hung")]).catch(() => undefined);
    stuck.kill("SIGKILL");
    await exited;
  });
}

const REQUEST = { options: [], timeoutMs: 60_000 };

/** One partition of Linux, as a boot sector holds it. */
function partitionTable(): Buffer {
  const sector = Buffer.alloc(512);
  sector.writeUInt8(0x83, 446 + 4);
  sector.writeUInt32LE(2_048, 446 + 8);
  sector.writeUInt32LE(8_192, 446 + 12);
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

/** A loop device over an empty image. */
async function makeDevice(megabytes = 16): Promise<string> {
  await run("truncate", ["-s", `${megabytes}M`, path("image")]);
  const { stdout } = await run("losetup", ["--find", "--show", path("image")]);
  const device = stdout.trim();
  undo.push(async () => run("losetup", ["-d", device]));
  return device;
}

function describeFileSystems() {
  it("formats a device that holds nothing, once, and finds its data again", async () => {
    const source = await makeDevice();
    await make("target");
    const request = { ...REQUEST, source, target: path("target"), type: "ext4" };
    await mounts.formatAndMount(request);
    await writeFile(path("target/file"), "kept");
    expect((await mountedBelow())[0]).toMatchObject({ source, type: "ext4", path: path("target") });
    await mounts.unmount(path("target"));
    await mounts.formatAndMount({ ...request, options: ["ro", "noatime"] });
    expect(await readFile(path("target/file"), "utf8")).toBe("kept");
    expect(await optionsOf("target")).toEqual(expect.arrayContaining(["ro", "noatime"]));
    await mounts.unmount(path("target"));
    await mounts.mountFileSystem(request);
    expect(await readFile(path("target/file"), "utf8")).toBe("kept");
  });

  it("never formats what holds something, what is read-only, or what is not there", async () => {
    const source = await makeDevice();
    await make("target");
    const request = { ...REQUEST, source, target: path("target"), type: "ext4" };
    const refused = async (change: object) => {
      const before = await readFile(path("image"));
      await expect(mounts.formatAndMount({ ...request, ...change })).rejects.toMatchObject({
        code: expect.stringMatching(/^(EINVAL|ENOENT)$/),
        message: expect.stringContaining(path("target")),
      });
      expect((await readFile(path("image"))).equals(before)).toBe(true);
      expect(await mountedBelow()).toEqual([]);
    };
    await refused({ options: ["ro"] });
    await run("mkfs.ext3", ["-q", source]);
    await refused({});
    await run("wipefs", ["-a", source]);
    await writeFile(source, partitionTable());
    await refused({});
    await expect(mounts.formatAndMount({ ...request, source: "/dev/no-such-device" })).rejects.toMatchObject({
      code: "ENOENT",
    });
  });

  const growDevice = async (source: string) => {
    await run("truncate", ["-s", "384M", path("image")]);
    await run("losetup", ["-c", source]);
  };

  // A mounted ext4 grows for CAP_SYS_RESOURCE only, which containers lack; one that is not mounted grows anywhere.
  it("makes ext4 as large as its device", async () => {
    const source = await makeDevice();
    await run("mkfs.ext4", ["-q", source]);
    await growDevice(source);
    for (let round = 0; round < 2; round++) {
      await mounts.growFileSystem({ source, target: path("target"), timeoutMs: 30_000 });
      const { stdout } = await run("dumpe2fs", ["-h", source]);
      const [blocks, size] = [/Block count: +(\d+)/, /Block size: +(\d+)/].map((field) =>
        Number(field.exec(stdout)?.[1]),
      );
      expect((blocks ?? 0) * (size ?? 0)).toBe(384 * 1_048_576);
    }
  });

  it.each(["xfs", "btrfs"])("makes a mounted %s as large as its device, or says what is missing", async (type) => {
    const source = await makeDevice(320);
    await make("target");
    const request = { source, target: path("target"), timeoutMs: 60_000 };
    const isThere = await mounts.formatAndMount({ ...request, type, options: [] }).then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ code: "ENOENT", message: expect.stringContaining(`mkfs.${type}`) });
        return false;
      },
    );
    if (!isThere) return;
    const sizeOf = async () => Number((await run("df", ["--output=size", "-k", path("target")])).stdout.split("\n")[1]);
    const before = await sizeOf();
    await growDevice(source);
    await mounts.growFileSystem(request);
    expect(await sizeOf()).toBeGreaterThan(before + 60_000);
  });

  it("does not mount what fsck cannot mend", async () => {
    const source = await makeDevice();
    await make("target");
    const request = { ...REQUEST, source, target: path("target"), type: "ext4" };
    await mounts.formatAndMount(request);
    await mounts.unmount(path("target"));
    // The inodes of the root and of what fsck needs.
    await run("dd", ["if=/dev/urandom", `of=${source}`, "bs=1024", "seek=20", "count=600", "conv=notrunc"]);
    await expect(mounts.formatAndMount(request)).rejects.toMatchObject({
      message: expect.stringMatching(/'fsck' found errors on device \/dev\/loop\d+ but could not correct them/),
    });
    expect(await mountedBelow()).toEqual([]);
  });

  it.each([
    [{ type: "../../tmp/x" }, "EINVAL"],
    [{ type: "-o" }, "EINVAL"],
    [{ source: "--bind" }, "EINVAL"],
    [{ source: "" }, "EINVAL"],
    [{ type: "no-such-type" }, "ENOENT"],
    [{ target: "link" }, "ELOOP"],
    [{ target: "file" }, "ENOTDIR"],
    [{ target: "absent" }, "ENOENT"],
  ])("refuses %j with %s", async (change: { type?: string; source?: string; target?: string }, code) => {
    await make("target");
    await symlink(path("target"), path("link"));
    await writeFile(path("file"), "");
    const request = { ...REQUEST, source: "tmpfs", type: "tmpfs", ...change, target: path(change.target ?? "target") };
    await expect(mounts.mountFileSystem(request)).rejects.toMatchObject({ code });
    await expect(mounts.formatAndMount(request)).rejects.toThrow();
    expect(await mountedBelow()).toEqual([]);
  });

  it("gives up on a helper that never ends, and leaves no process of it", async () => {
    await make("target", "bin");
    await writeFile(path("bin/mount"), `#!/bin/sh\nsleep 1000 &\necho $! > ${path("pid")}\nwait\n`, { mode: 0o755 });
    const before = process.env["PATH"];
    process.env["PATH"] = `${path("bin")}:${before}`;
    try {
      const request = { source: "server:/path", target: path("target"), type: "nfs", options: [] };
      const hanging = mounts.mountFileSystem({ ...request, timeoutMs: 300 });
      await expect(hanging).rejects.toMatchObject({
        code: "ETIMEDOUT",
        message: `ETIMEDOUT: cannot mount 'server:/path' at '${path("target")}': mount did not end within 300 ms`,
      });
      const pid = (await readFile(path("pid"), "utf8")).trim();
      // Gone, or a zombie on a machine where no process collects orphans.
      const stateOf = async () => readFile(`/proc/${pid}/stat`, "latin1").catch(() => ") gone");
      await expect.poll(stateOf).toMatch(/\) (gone|Z)/);
      const controller = new AbortController();
      const aborted = mounts.mountFileSystem({ ...request, timeoutMs: 60_000 }, controller.signal);
      controller.abort();
      await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    } finally {
      process.env["PATH"] = before;
    }
  });
}
