import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFiles } from "./node-files.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-files-"));
});
afterEach(async () => rm(directory, { recursive: true, force: true }));

describe("files of a Linux machine", () => {
  it("reads files of procfs, whose size is always 0", async () => {
    const status = await nodeFiles.read("/proc/self/status", 100_000);
    expect(status.toString()).toContain("Pid:");
    expect((await nodeFiles.readTail("/proc/self/status", 10)).length).toBe(10);
    await expect(nodeFiles.read("/proc/self/status", 10)).rejects.toMatchObject({ code: "EFBIG" });
  });

  it("reads no device and no socket", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(directory, "socket"), resolve));
    try {
      await expect(nodeFiles.read("/dev/zero", 10)).rejects.toMatchObject({ code: "EINVAL" });
      await expect(nodeFiles.read(join(directory, "socket"), 10)).rejects.toMatchObject({ code: "EINVAL" });
      await expect(nodeFiles.touch(join(directory, "socket"), 0o666)).rejects.toMatchObject({ code: "EINVAL" });
      expect((await nodeFiles.stat(join(directory, "socket")))?.type).toBe("socket");
      expect((await nodeFiles.stat("/dev/null"))?.type).toBe("character-device");
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("removes a tree of thousands of files, and refuses one that is nested without end", async () => {
    const nested = `${directory}/deep/${"d/".repeat(600)}`;
    await nodeFiles.makeDirectory(nested, 0o755);
    await expect(nodeFiles.remove(`${directory}/deep`)).rejects.toMatchObject({ code: "ENAMETOOLONG" });
    for (let index = 0; index < 2_000; index++) await nodeFiles.touch(`${directory}/file-${index}`, 0o644);
    await nodeFiles.makeDirectory(`${directory}/tree`, 0o755);
    await nodeFiles.remove(`${directory}/tree`);
    for (const { name } of await nodeFiles.list(directory))
      if (name !== "deep") await nodeFiles.remove(`${directory}/${name}`);
    expect((await nodeFiles.list(directory)).map(({ name }) => name)).toEqual(["deep"]);
  });

  it("refuses to remove the root", async () => {
    await expect(nodeFiles.remove("/")).rejects.toThrow("has a name");
  });
});
