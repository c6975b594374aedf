import { rm, truncate, writeFile } from "node:fs/promises";
import { runCommand } from "../../../src/cluster/processes/run-command.ts";

/** A block device that is a file. */
interface LoopDevice {
  /** `/dev/loop0` */
  readonly path: string;
  remove(): Promise<void>;
}

/** Empty, unless it is formatted. */
export async function createLoopDevice(file: string, sizeMib: number): Promise<LoopDevice> {
  await writeFile(file, "");
  await truncate(file, sizeMib * 1024 * 1024);
  const path = (await runCommand("losetup", ["--find", "--show", file])).trim();
  return {
    path,
    async remove() {
      await runCommand("losetup", ["--detach", path]);
      await rm(file, { force: true });
    },
  };
}
