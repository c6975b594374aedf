import { describe, expect, it } from "vitest";
import { CodedError } from "../../../base/errors.ts";
import { createFileSystemGrowth } from "./grow-file-system.ts";
import type { ProgramEnd } from "./run-mount-program.ts";

const DONE: ProgramEnd = { code: 0, stdout: "", stderr: "" };
const REQUEST = { source: "/dev/sdb", target: "/kubelet/mounts/pv-1", timeoutMs: 1_000 };

/** A machine whose programs end as the test says; those that it does not name do their work and say nothing. */
function createRig(format: string, ends: Readonly<Record<string, ProgramEnd | Error>> = {}) {
  const calls: string[] = [];
  const { growFileSystem } = createFileSystemGrowth(async (name, args) => {
    calls.push([name, ...args].join(" "));
    const end =
      ends[name] ?? (name === "blkid" ? blkid(format) : name === "blockdev" ? { ...DONE, stdout: "0" } : DONE);
    if (end instanceof Error) throw end;
    return await Promise.resolve(end);
  });
  const grow = async (change: Partial<typeof REQUEST> = {}) => await growFileSystem({ ...REQUEST, ...change });
  return { calls, grow };
}

const blkid = (format: string): ProgramEnd =>
  format === "" ? { ...DONE, code: 2 } : { ...DONE, stdout: `DEVNAME=/dev/sdb\nTYPE=${format}` };

describe("a file system on a block device", () => {
  it.each([
    ["ext3", "resize2fs /dev/sdb"],
    ["ext4", "resize2fs /dev/sdb"],
    ["xfs", "xfs_growfs -d /kubelet/mounts/pv-1"],
    ["btrfs", "btrfs filesystem resize max /kubelet/mounts/pv-1"],
  ])("of type %s grows by its program", async (format, command) => {
    const { calls, grow } = createRig(format);
    await grow();
    expect(calls.slice(1)).toEqual(["blockdev --getro /dev/sdb", command]);
  });

  it.each([
    ["holds nothing", createRig("")],
    ["is read-only", createRig("ext4", { blockdev: { ...DONE, stdout: "1\n" } })],
  ])("that %s is left alone", async (_why, { calls, grow }) => {
    await grow();
    expect(calls.join()).not.toMatch(/resize/);
  });

  it.each([
    ["a type that cannot grow", createRig("vfat"), "EOPNOTSUPP", /it holds vfat: only ext3, ext4, xfs, btrfs can grow/],
    [
      "a failing program",
      createRig("ext4", { resize2fs: { code: 1, stdout: "", stderr: "resize2fs: Operation not permitted" } }),
      "EPERM",
      /'\/dev\/sdb' at '\/kubelet\/mounts\/pv-1': resize2fs ended with 1: resize2fs: Oper/,
    ],
    [
      "a program that is missing",
      createRig("xfs", { xfs_growfs: new CodedError("ENOENT", "ENOENT: xfs_growfs is not installed") }),
      "ENOENT",
      /xfs_growfs is not installed/,
    ],
    [
      "a program that hangs",
      createRig("ext4", { resize2fs: new CodedError("ETIMEDOUT", "ETIMEDOUT: resize2fs timed out") }),
      "ETIMEDOUT",
      /resize2fs did not end within 1000 ms/,
    ],
    [
      "a disk that blkid cannot read",
      createRig("ext4", { blkid: { code: 2, stdout: "", stderr: "error: /dev/sdb: No such file or directory" } }),
      "ENOENT",
      /read the format/,
    ],
  ])("tells of %s", async (_why, { grow }, code, message) => {
    await expect(grow()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it.each([{ source: "-f" }, { target: "--help" }])("is not named by an option: %j", async (change) => {
    const { calls, grow } = createRig("ext4");
    await expect(grow(change)).rejects.toMatchObject({ code: "EINVAL" });
    expect(calls).toEqual([]);
  });
});
