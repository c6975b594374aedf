import type { MountEntry } from "../../../../host/mounts-port.ts";

/**
 * Names the device of the file system that holds a path. This is the source of the deepest mount above the path, and
 * the last mount wins if several are at one path. The result is empty when no mount holds the path.
 */
export function findMountSource(entries: readonly MountEntry[], path: string): string {
  const holds = (mount: string) => mount === "/" || path === mount || path.startsWith(`${mount}/`);
  const depth = ({ path: mount }: MountEntry) => mount.length;
  const holding = entries.filter((entry) => holds(entry.path));
  const [first, ...others] = holding;
  if (first === undefined) return "";
  return others.reduce((deepest, entry) => (depth(deepest) > depth(entry) ? deepest : entry), first).source;
}
