import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linuxFiles } from "./linux-files.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-files-"));
});
afterEach(async () => rm(directory, { recursive: true, force: true }));

describe("files of a Linux machine", () => {
  it("reads files of procfs, whose size is always 0", async () => {
    const status = await linuxFiles.read("/proc/self/status", 100_000);
    expect(status.toString()).toContain("Pid:");
    await expect(linuxFiles.read("/proc/self/status", 10)).rejects.toMatchObject({ code: "EFBIG" });
  });

  it("reads no device and no socket", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(directory, "socket"), resolve));
    try {
      await expect(linuxFiles.read("/dev/zero", 10)).rejects.toMatchObject({ code: "EINVAL" });
      await expect(linuxFiles.read(join(directory, "socket"), 10)).rejects.toMatchObject({ code: "EINVAL" });
      await expect(linuxFiles.touch(join(directory, "socket"), 0o666)).rejects.toMatchObject({ code: "EINVAL" });
      expect((await linuxFiles.stat(join(directory, "socket")))?.type).toBe("socket");
      expect((await linuxFiles.stat("/dev/null"))?.type).toBe("character-device");
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("removes a tree of thousands of files", async () => {
    for (let index = 0; index < 2_000; index++) await linuxFiles.touch(`${directory}/file-${index}`, 0o644);
    await linuxFiles.makeDirectory(`${directory}/tree`, 0o755);
    for (const { name } of await linuxFiles.list(directory)) await linuxFiles.remove(`${directory}/${name}`);
    expect(await linuxFiles.list(directory)).toEqual([]);
  });

  it("removes and changes files whose names are no UTF-8", async () => {
    await linuxFiles.makeDirectory(`${directory}/tree`, 0o700);
    const names = [Buffer.from([0xff, 0xfe]), Buffer.from([0x61, 0xc3])];
    const paths = names.map((name) => Buffer.concat([Buffer.from(`${directory}/tree/`), name]));
    for (const path of paths) await writeFile(path, "", { mode: 0o600 });
    await linuxFiles.changeGroup(`${directory}/tree`, { group: 2_000, readOnly: false, onlyIfRootDiffers: false });
    for (const path of paths) expect(await stat(path)).toMatchObject({ gid: 2_000, mode: 0o100660 });
    await linuxFiles.remove(`${directory}/tree`);
    expect(await linuxFiles.list(directory)).toEqual([]);
  });

  it("gives a large and deep tree to a group with few descriptors, while timers go on", async () => {
    await linuxFiles.makeDirectory(`${directory}/tree/${"deep/".repeat(150)}`, 0o700);
    await mkdir(`${directory}/tree/wide`);
    for (let index = 0; index < 3_000; index++) await writeFile(`${directory}/tree/wide/${index}`, "", { mode: 0o600 });
    const before = (await readdir("/proc/self/fd")).length;
    let [ticks, most] = [0, 0];
    const timer = setInterval(() => {
      ticks++;
      most = Math.max(most, readdirSync("/proc/self/fd").length);
    }, 2);
    await linuxFiles.changeGroup(`${directory}/tree`, { group: 2_000, readOnly: true, onlyIfRootDiffers: false });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
    expect(most - before).toBeLessThan(100);
    expect((await readdir("/proc/self/fd")).length).toBe(before);
    expect((await stat(`${directory}/tree/wide/2999`)).gid).toBe(2_000);
    expect(await stat(`${directory}/tree/${"deep/".repeat(150)}`)).toMatchObject({ gid: 2_000, mode: 0o42750 });
  });

  it("refuses to remove the root", async () => {
    await expect(linuxFiles.remove("/")).rejects.toThrow("has a name");
  });
});
