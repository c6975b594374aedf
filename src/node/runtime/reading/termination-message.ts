import {
  CONTAINER_TERMINATION_MESSAGE_PATH_ANNOTATION,
  CONTAINER_TERMINATION_MESSAGE_POLICY_ANNOTATION,
} from "../../../api/well-known.ts";
import type { ContainerStatus } from "../../../cri/gen/cri-v1.ts";
import type { Files } from "../../../host/port.ts";
import { parseLogLine } from "../logs/log-line.ts";

/**
 * Upstream's limits (pkg/kubelet/container): the bytes of the message file, and the bytes and lines of the log's tail.
 */
const MAX_MESSAGE_BYTES = 4096;
const MAX_LOG_MESSAGE_BYTES = 2048;
const MAX_LOG_MESSAGE_LINES = 80;

/** The file is mounted by itself, so its directory is the node's own. */
const MESSAGE_FILE = { ownNames: 1, maxBytes: MAX_MESSAGE_BYTES };
/**
 * A pod that mounts `/var/log` can replace the file and the directories of its container and of its pod. Each line
 * carries a time and a stream, so more bytes are read than the message may have.
 */
const LOG_FILE = { ownNames: 3, maxBytes: 4 * MAX_LOG_MESSAGE_BYTES };

/**
 * Returns why an exited container ended: what the container wrote to its termination log, or, with the policy
 * FallbackToLogsOnError and a failure without such a message, the tail of its log. The runtime's message stands before
 * both.
 */
export async function readTerminationMessage(
  files: Pick<Files, "openBeneath" | "stat">,
  status: ContainerStatus,
): Promise<string> {
  const { annotations } = status;
  const path = annotations[CONTAINER_TERMINATION_MESSAGE_PATH_ANNOTATION];
  const mount = status.mounts.find((candidate) => path !== undefined && candidate.containerPath === path);
  const isWritten = mount !== undefined && !(await isEmpty(files, mount.hostPath));
  const written = isWritten ? await readText(files, mount.hostPath, MESSAGE_FILE) : "";
  if (written !== "") return joined(status.message, written);
  const fallsBack = annotations[CONTAINER_TERMINATION_MESSAGE_POLICY_ANNOTATION] === "FallbackToLogsOnError";
  if (fallsBack && status.exitCode !== 0) {
    const tail = await readLogTail(files, status.logPath);
    if (tail !== "") return joined(status.message, tail);
  }
  return status.message;
}

/** Most containers write no message, which one look tells. What cannot be looked at is left to the reading. */
async function isEmpty(files: Pick<Files, "stat">, path: string): Promise<boolean> {
  try {
    const status = await files.stat(path);
    return status === undefined || (status.type === "file" && status.sizeBytes === 0);
  } catch {
    return false;
  }
}

/** The runtime's message comes first, as upstream has it. */
function joined(runtimeMessage: string, ownMessage: string): string {
  return runtimeMessage === "" ? ownMessage : `${runtimeMessage}: ${ownMessage}`;
}

async function readLogTail(files: Pick<Files, "openBeneath">, logPath: string): Promise<string> {
  const raw = await readText(files, logPath, LOG_FILE);
  const text = raw
    .split("\n")
    .flatMap((line) => parseLogLine(line)?.text ?? [])
    .slice(-MAX_LOG_MESSAGE_LINES)
    .join("");
  return Buffer.from(text).subarray(-MAX_LOG_MESSAGE_BYTES).toString("utf8");
}

/**
 * Returns the end of a file whose last `ownNames` names may be what the container made of them: no link in these is
 * followed, so that a container cannot have another file of the node shown in its pod's status. Returns an empty text
 * for a file that is missing or cannot be read, because the exit code matters more than the message.
 */
async function readText(
  files: Pick<Files, "openBeneath">,
  path: string,
  { ownNames, maxBytes }: { readonly ownNames: number; readonly maxBytes: number },
): Promise<string> {
  const names = path.split("/");
  if (names.length <= ownNames) return "";
  const [root, own] = [names.slice(0, -ownNames), names.slice(-ownNames)];
  try {
    const file = await files.openBeneath(root.join("/") || "/", own.join("/"), { refusesLinks: true });
    try {
      const { sizeBytes } = await file.status();
      return (await file.read(Math.max(0, sizeBytes - maxBytes), maxBytes)).toString("utf8");
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}
