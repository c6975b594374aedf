import type { FileStatus } from "./port.ts";

const [GROUP_WRITES, OTHERS_WRITE] = [0o020, 0o002];

/**
 * Says who besides root may change a file or directory of manifests; undefined where nobody may. Whoever may write a
 * static pod's manifest is root on the node.
 */
export function findForeignWriter({ mode, user }: Pick<FileStatus, "mode" | "user">): string | undefined {
  const bits = `mode ${mode.toString(8).padStart(4, "0")}`;
  if (user !== 0) return `it belongs to user ${user}, not to root`;
  if ((mode & OTHERS_WRITE) !== 0) return `everybody may write to it (${bits})`;
  return (mode & GROUP_WRITES) !== 0 ? `its group may write to it (${bits})` : undefined;
}
