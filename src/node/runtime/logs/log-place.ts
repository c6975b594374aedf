import { codeOf } from "../../../base/errors.ts";
import type { OpenedFile } from "../../../host/opened-file.ts";
import type { Files } from "../../../host/port.ts";

/** Where a container's log is: at `path` below `root`, the directory of all pods' logs. */
export interface LogPlace {
  readonly root: string;
  readonly path: string;
}

/** Splits a log's path; undefined where it is not below the directory, so that it is not of a pod of this node. */
export function findLogPlace(podLogsDirectory: string, logPath: string): LogPlace | undefined {
  const root = podLogsDirectory.replace(/\/+$/, "");
  if (!logPath.startsWith(`${root}/`)) return undefined;
  const names = logPath.slice(root.length + 1).split("/");
  const isPlain = names.length > 1 && names.every((name) => name !== "" && name !== "." && name !== "..");
  return isPlain ? { root, path: names.join("/") } : undefined;
}

/**
 * Opens a log without following any link below the root: a pod that can write there, because it mounts `/var/log`, must not
 * make the node serve another file to those who may read logs. Undefined where there is no file, which happens for a moment
 * while a log is rotated.
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
