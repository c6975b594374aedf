import { createHash } from "node:crypto";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createLinuxCgroups } from "../../host/linux/cgroups/linux-cgroups.ts";

/** Where this process may make no cgroups, or there are none. */
const NOT_ALLOWED = new Set(["EROFS", "EACCES", "EPERM", "ENOENT"]);

/** The cgroup beneath which the pods of a node have theirs, by the node's directory: several nodes share a machine. */
function ownCgroup(directory: string): string {
  return `/nodelet-${createHash("sha256").update(directory).digest("hex").slice(0, 12)}`;
}

/** Makes it. Undefined, and said so, where that is not allowed: pods then have no cgroups of their own. */
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

/** Removes it with all below it; what of the node runs there still is killed. Absent is fine. */
export async function removeOwnCgroup(directory: string): Promise<void> {
  try {
    await createLinuxCgroups().remove(ownCgroup(directory), { killing: true });
  } catch (error) {
    // Without a file system of cgroups there is nothing, and in one that is read-only we made nothing.
    if (!NOT_ALLOWED.has(codeOf(error) ?? "")) throw error;
  }
}
