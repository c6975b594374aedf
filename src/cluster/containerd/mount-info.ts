/** One line of `/proc/<pid>/mountinfo`, as far as it matters here. */
export interface Mount {
  mountPoint: string;
  fileSystem: string;
  /** In a peer group: mounts made here show in the peers, and the other way round. */
  shared: boolean;
}

/** The mounts in the order of the text, which is that of mounting. */
export function parseMountInfo(text: string): Mount[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const fields = line.split(" ");
      const separator = fields.indexOf("-", 6);
      return {
        mountPoint: unescapePath(fields[4] ?? ""),
        fileSystem: fields[separator + 1] ?? "",
        shared: fields.slice(6, separator).some((field) => field.startsWith("shared:")),
      };
    });
}

/** Whether mounts made beneath `/` show in other mount namespaces, and so can propagate into containers. */
export function isRootShared(mounts: readonly Mount[]): boolean {
  return mounts.findLast((mount) => mount.mountPoint === "/")?.shared ?? false;
}

/** The mount that a path lies in: the longest mount point that contains it, the newest where several are stacked. */
export function findMountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  let found: Mount | undefined;
  for (const mount of mounts) {
    if (!isBeneath(path, mount.mountPoint)) continue;
    if (found === undefined || mount.mountPoint.length >= found.mountPoint.length) found = mount;
  }
  return found;
}

/** Mount points at or beneath the directory, in an order in which they can be unmounted. */
export function computeMountsBeneath(mounts: readonly Mount[], directory: string): string[] {
  return mounts
    .map((mount) => mount.mountPoint)
    .filter((mountPoint) => isBeneath(mountPoint, directory))
    .reverse();
}

function isBeneath(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/** The kernel writes blanks, tabs, newlines and backslashes as octal escapes. */
function unescapePath(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
