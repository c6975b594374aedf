import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { CgroupTree } from "../../host/cgroup-tree-port.ts";
import { emptyContainerRoot } from "../../host/linux/cgroups/empty-root.ts";
import { createLinuxCgroups } from "../../host/linux/cgroups/linux-cgroups.ts";
import { systemClock } from "../../host/linux/system/system-clock.ts";
import { type CgroupDriver, cgroupPathOf, partsOf } from "../../node/resources/cgroups/cgroup-name.ts";
import { createSliceTree } from "../../node/resources/cgroups/slice-tree.ts";
import { findSystemd } from "../processes/find-systemd.ts";

/** The errors where this process may not make cgroups, where there are none, or only such as hold threads (`ENOTSUP`). */
const NOT_ALLOWED = new Set(["EROFS", "EACCES", "EPERM", "ENOENT", "ENOTSUP"]);

/** A file of version 2 alone. */
const UNIFIED = "/sys/fs/cgroup/cgroup.controllers";

/** Where the pods of a node have their cgroups, and who makes them, in the words of KubeletConfiguration. */
export interface OwnCgroup {
  readonly cgroupRoot: string;
  readonly cgroupDriver: CgroupDriver;
}

/** The tree of whoever owns the machine's cgroups: systemd where it runs, otherwise the kernel's files. */
interface OwnedTree {
  readonly tree: CgroupTree;
  readonly driver: CgroupDriver;
}

/**
 * Makes the cgroup beneath which the pods of a node have theirs, a slice where systemd runs the machine. The result is
 * undefined, and this is logged, where that is not allowed: pods then have no cgroups of their own.
 */
export async function makeOwnCgroup(directory: string, log: Log): Promise<OwnCgroup | undefined> {
  const { tree, driver } = await findTree(log);
  const cgroupRoot = ownCgroup(directory);
  const path = cgroupPathOf(partsOf(cgroupRoot), driver);
  try {
    const moved = driver === "cgroupfs" ? emptyContainerRoot() : 0;
    if (moved > 0)
      log.info("the processes of this container are in a cgroup beneath its own, which pods need", { moved });
    await tree.make(path);
    if (tree.findLack(path) === undefined) return { cgroupRoot, cgroupDriver: driver };
  } catch (error) {
    if (!NOT_ALLOWED.has(codeOf(error) ?? "")) throw error;
    log.warn("no cgroups can be made here: pods as a whole and QoS classes are not limited", {
      error: messageOf(error),
    });
    return undefined;
  }
  log.warn("cgroups lack what pods need: pods as a whole and QoS classes are not limited", {
    lack: tree.findLack(path),
  });
  await tree.remove(path, { killing: false });
  return undefined;
}

/**
 * Removes the cgroup with all cgroups below it, and kills processes of the node that still run there. A missing cgroup
 * is no error.
 */
export async function removeOwnCgroup(directory: string, log: Log): Promise<void> {
  const { tree, driver } = await findTree(log);
  try {
    await tree.remove(cgroupPathOf(partsOf(ownCgroup(directory)), driver), { killing: true });
  } catch (error) {
    // Without a file system of cgroups there is nothing to remove, and in a read-only one this program made nothing.
    if (!NOT_ALLOWED.has(codeOf(error) ?? "")) throw error;
  }
}

/** It depends on the node's directory, because several nodes may share a machine. */
function ownCgroup(directory: string): string {
  return `/nodelet-${createHash("sha256").update(directory).digest("hex").slice(0, 12)}`;
}

async function findTree(log: Log): Promise<OwnedTree> {
  const files = createLinuxCgroups();
  const found = await findSystemd(log);
  if (found === undefined) return { tree: files, driver: "cgroupfs" };
  const { systemd, version: systemdVersion } = found;
  const facts = { cgroupVersion: existsSync(UNIFIED) ? 2 : 1, systemdVersion } as const;
  return { tree: createSliceTree({ clock: systemClock, files, systemd }, facts), driver: "systemd" };
}
