import type { MountEntry } from "../../host/mounts-port.ts";

/** Tells whether mounts made beneath `/` show in other mount namespaces, and so can propagate into containers. */
export function isRootShared(mounts: readonly MountEntry[]): boolean {
  return mounts.findLast(({ path }) => path === "/")?.propagation === "shared";
}

/**
 * Finds the mount that a path lies in: the longest mount point that contains it, and the newest where several are
 * stacked.
 */
export function findMountOf(mounts: readonly MountEntry[], path: string): MountEntry | undefined {
  let found: MountEntry | undefined;
  for (const mount of mounts) {
    if (!isBeneath(path, mount.path)) continue;
    if (found === undefined || mount.path.length >= found.path.length) found = mount;
  }
  return found;
}

/**
 * Lists the mount points beneath the directory, in an order in which they can be unmounted. What is mounted over the
 * directory itself is not one of them: somebody gave it a file system of its own.
 */
export function computeMountsBeneath(mounts: readonly MountEntry[], directory: string): string[] {
  return mounts
    .map(({ path }) => path)
    .filter((path) => path !== directory && isBeneath(path, directory))
    .reverse();
}

function isBeneath(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}
