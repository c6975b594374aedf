import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { readMountTable } from "../../src/host/linux/mounts/mount-table.ts";
import { runProgram } from "./program.ts";

let directory: string;
/** Directories that an administrator gave a disk of their own, outermost first. */
let disks: string[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-e2e-"));
  disks = ["state", "state/containerd", "state/containerd/root", "state/kubelet"].map((name) => join(directory, name));
  for (const disk of disks) {
    await mkdir(disk);
    await runCommand("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]);
  }
});
afterAll(async () => {
  for (const disk of disks.toReversed()) await runCommand("umount", [disk]);
  await rm(directory, { recursive: true });
});

it("nodelet down --pods leaves the file systems that directories of the node have of their own", async () => {
  const left = join(directory, "state/kubelet/left-mounted");
  await mkdir(left);
  await runCommand("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", left]);
  await writeFile(join(directory, "state/kubelet/file"), "");
  const { code } = await runProgram("down", "--pods", "--now", "--state-dir", join(directory, "state"));
  expect(code).toBe(0);
  const mounted = (await readMountTable()).map(({ path }) => path).filter((path) => path.startsWith(directory));
  expect(mounted).toEqual(disks);
});
