import { createHash } from "node:crypto";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createLinuxCgroups } from "../../host/linux/cgroups/linux-cgroups.ts";

/** The errors where this process may not make cgroups, or where there are none. */
const NOT_ALLOWED = new Set(["EROFS", "EACCES", "EPERM", "ENOENT"]);

/**
 * Returns the cgroup beneath which the pods of a node have theirs. It depends on the node's directory, because several
 * nodes may share a machine.
 */
function ownCgroup(directory: string): string {
  return `/nodelet-${createHash("sha256").update(directory).digest("hex").slice(0, 12)}`;
}

/**
 * Makes the cgroup. The result is undefined, and this is logged, where that is not allowed: pods then have no cgroups
 * of their own.
 */
export async function makeOwnCgroup(directory: string, log: Log): Promise<string | undefined> {
  const path = ownCgroup(directory);
  const cgroups = createLinuxCgroups();
  try {
    await cgroups.make(path);
    if (cgroups.findLack(path) === undefined) return path;
  } catch (error) {
    if (!NOT_ALLOWED.has(codeOf(error) ?? "")) throw error;
    log.warn("no cgroups can be made here: pods as a whole and QoS classes are not limited", {
      error: messageOf(error),
    });
    return undefined;
  }
  log.warn("cgroups lack what pods need: pods as a whole and QoS classes are not limited", {
    lack: cgroups.findLack(path),
  });
  await cgroups.remove(path, { killing: false });
  return undefined;
}

/**
 * Removes the cgroup with all cgroups below it, and kills processes of the node that still run there. A missing cgroup
 * is no error.
 */
export async function removeOwnCgroup(directory: string): Promise<void> {
  try {
    await createLinuxCgroups().remove(ownCgroup(directory), { killing: true });
  } catch (error) {
    // Without a file system of cgroups there is nothing to remove, and in a read-only one this program made nothing.
    if (!NOT_ALLOWED.has(codeOf(error) ?? "")) throw error;
  }
}
