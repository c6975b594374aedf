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

/**
 * Returns why an exited container ended: what the container wrote to its termination log, or, with the policy
 * FallbackToLogsOnError and a failure without such a message, the tail of its log. The runtime's message stands before
 * both.
 */
export async function readTerminationMessage(files: Files, status: ContainerStatus): Promise<string> {
  const { annotations } = status;
  const path = annotations[CONTAINER_TERMINATION_MESSAGE_PATH_ANNOTATION];
  const mount = status.mounts.find((candidate) => path !== undefined && candidate.containerPath === path);
  const written = mount === undefined ? "" : await readText(files, mount.hostPath, MAX_MESSAGE_BYTES);
  if (written !== "") return joined(status.message, written);
  const fallsBack = annotations[CONTAINER_TERMINATION_MESSAGE_POLICY_ANNOTATION] === "FallbackToLogsOnError";
  if (fallsBack && status.exitCode !== 0) {
    const tail = await readLogTail(files, status.logPath);
    if (tail !== "") return joined(status.message, tail);
  }
  return status.message;
}

/** The runtime's message comes first, as upstream has it. */
function joined(runtimeMessage: string, ownMessage: string): string {
  return runtimeMessage === "" ? ownMessage : `${runtimeMessage}: ${ownMessage}`;
}

async function readLogTail(files: Files, logPath: string): Promise<string> {
  // Each line carries a time and a stream, so more bytes are read than the message may have.
  const raw = await readText(files, logPath, 4 * MAX_LOG_MESSAGE_BYTES);
  const text = raw
    .split("\n")
    .flatMap((line) => parseLogLine(line)?.text ?? [])
    .slice(-MAX_LOG_MESSAGE_LINES)
    .join("");
  return Buffer.from(text).subarray(-MAX_LOG_MESSAGE_BYTES).toString("utf8");
}

/**
 * Returns an empty text for a file that is missing or cannot be read, because the exit code matters more than the
 * message.
 */
async function readText(files: Files, path: string, maxBytes: number): Promise<string> {
  if (path === "") return "";
  return await files.readTail(path, maxBytes).then(
    (bytes) => bytes.toString("utf8"),
    () => "",
  );
}
