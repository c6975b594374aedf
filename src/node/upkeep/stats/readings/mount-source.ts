import type { MountEntry } from "../../../../host/mounts-port.ts";

/**
 * Names the device of the file system that holds a path: the source of the deepest mount above the path, and of several
 * mounts at one path the last. Empty where no mount holds it.
 */
export function findMountSource(entries: readonly MountEntry[], path: string): string {
  const holds = (mount: string) => mount === "/" || path === mount || path.startsWith(`${mount}/`);
  const depth = ({ path: mount }: MountEntry) => mount.length;
  const holding = entries.filter((entry) => holds(entry.path));
  const [first, ...others] = holding;
  if (first === undefined) return "";
  return others.reduce((deepest, entry) => (depth(deepest) > depth(entry) ? deepest : entry), first).source;
}
