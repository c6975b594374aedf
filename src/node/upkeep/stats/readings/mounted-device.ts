import type { MountEntry } from "../../../../host/mounts-port.ts";

/** A device that a file system is on. */
export interface MountedDevice {
  /** `/dev/sda1`, `tmpfs`, `server:/path` */
  readonly name: string;
  /** `8:1` */
  readonly numbers: string;
}

/**
 * Finds the device of the file system that holds a path. This is the source of the deepest mount above the path, and
 * the last mount wins if several are at one path. The names are empty when no mount holds the path.
 */
export function findMountedDevice(entries: readonly MountEntry[], path: string): MountedDevice {
  const holds = (mount: string) => mount === "/" || path === mount || path.startsWith(`${mount}/`);
  const depth = ({ path: mount }: MountEntry) => mount.length;
  const holding = entries.filter((entry) => holds(entry.path));
  const [first, ...others] = holding;
  if (first === undefined) return { name: "", numbers: "" };
  const { source, device } = others.reduce(
    (deepest, entry) => (depth(deepest) > depth(entry) ? deepest : entry),
    first,
  );
  return { name: source, numbers: device };
}
