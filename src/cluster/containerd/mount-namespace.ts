import { writeFile } from "node:fs/promises";
import { readMountTable } from "../../host/linux/mounts/mount-table.ts";
import { runCommand } from "../processes/run-command.ts";
import { computeMountsBeneath, isRootShared } from "./mount-info.ts";

/**
 * Makes sure that `/` is shared, which volumes that propagate mounts need. Where the machine's `/` is private (no
 * systemd), containerd and the node agent run in a mount namespace of their own, in which `/` is shared; the machine
 * itself stays as it is.
 *
 * Returns the command prefix that starts a program in that namespace; empty where `/` is shared and none is needed.
 *
 * The namespace is pinned by a bind mount of its file, so that a containerd that is started anew finds the mounts of
 * the pods that live on. Mounts that the machine makes after that do not show in it.
 */
export async function ensureMountNamespace(path: string): Promise<string[]> {
  const mounts = await readMountTable();
  if (isRootShared(mounts)) return [];
  if (!mounts.some((mount) => mount.path === path)) {
    await writeFile(path, "");
    await runCommand("unshare", [`--mount=${path}`, "--propagation", "shared", "true"]);
  }
  return ["nsenter", `--mount=${path}`, "--"];
}

/**
 * Unmounts everything beneath the directory, innermost first; the pinned namespace is one of them. `kept` may be
 * mounted by the machine's administrator.
 */
export async function unmountBeneath(directory: string, kept?: string): Promise<void> {
  const mounts = await readMountTable();
  for (const mountPoint of computeMountsBeneath(mounts, directory)) {
    if (mountPoint !== kept) await runCommand("umount", ["--lazy", mountPoint]);
  }
}
