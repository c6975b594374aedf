import { spawn } from "node:child_process";
import { once } from "node:events";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import type { NodeUnderTest } from "../node-under-test.ts";

/** A file system that never answers, as an NFS server that is away: each look at it waits. */
export interface HungMount {
  /** Each waiting look gets an error, and the mount goes. */
  free(): Promise<void>;
}

/** Mounts one where containerd and the node agent see it. Nothing of this process may look at the path meanwhile. */
export async function mountHung(node: NodeUnderTest, path: string): Promise<HungMount> {
  await mkdir(path, { recursive: true });
  const device: FileHandle = await open("/dev/fuse", "r+");
  const inNamespace = async (...command: string[]) => {
    const [program = "", ...args] = [...node.containerd.enterMountNamespace, ...command];
    // The mount takes the connection from its fourth descriptor.
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe", device.fd] });
    let errors = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      errors += chunk.toString("utf8");
    });
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`${command.join(" ")}: ${errors}`);
  };
  const options = "fd=3,rootmode=40000,user_id=0,group_id=0";
  await inNamespace("mount", "-i", "-t", "fuse", "-o", options, "hung", path);
  return {
    async free() {
      await inNamespace("umount", "--lazy", path);
      await device.close();
    },
  };
}
