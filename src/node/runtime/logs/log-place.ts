import { codeOf } from "../../../base/errors.ts";
import type { OpenedFile } from "../../../host/opened-file.ts";
import type { Files } from "../../../host/port.ts";

/** Where a container's log is: `path` beneath `root`, the directory of all pods' logs. */
export interface LogPlace {
  readonly root: string;
  readonly path: string;
}

/** Undefined for a path that is not beneath the directory, as no log of a pod of this node is. */
export function findLogPlace(podLogsDirectory: string, logPath: string): LogPlace | undefined {
  const root = podLogsDirectory.replace(/\/+$/, "");
  if (!logPath.startsWith(`${root}/`)) return undefined;
  const names = logPath.slice(root.length + 1).split("/");
  const isPlain = names.length > 1 && names.every((name) => name !== "" && name !== "." && name !== "..");
  return isPlain ? { root, path: names.join("/") } : undefined;
}

/**
 * Opens it without following any link beneath the root: whoever can write there, as a pod that mounts `/var/log` can,
 * must not make the node read something else to those who may read logs. Undefined where there is nothing, which is so
 * for a moment while a log is rotated.
 */
export async function openLogIfThere(
  files: Pick<Files, "openBeneath">,
  { root, path }: LogPlace,
): Promise<OpenedFile | undefined> {
  try {
    return await files.openBeneath(root, path, { refusesLinks: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
