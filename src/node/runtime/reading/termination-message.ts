import {
  CONTAINER_TERMINATION_MESSAGE_PATH_ANNOTATION,
  CONTAINER_TERMINATION_MESSAGE_POLICY_ANNOTATION,
} from "../../../api/well-known.ts";
import type { ContainerStatus } from "../../../cri/gen/cri-v1.ts";
import type { Files } from "../../../host/port.ts";
import { parseLogLine } from "../logs/log-line.ts";

/** Limits of upstream's pkg/kubelet/container: bytes of the message file, and bytes and lines of the log's tail. */
const MAX_MESSAGE_BYTES = 4096;
const MAX_LOG_MESSAGE_BYTES = 2048;
const MAX_LOG_MESSAGE_LINES = 80;

/**
 * Why an exited container ended, in its own words: what it wrote to its termination log; for the policy
 * FallbackToLogsOnError and a failure without such words, the tail of its log; before both, what the runtime says.
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

/** As upstream: the runtime's word comes first. */
function joined(runtimeMessage: string, ownMessage: string): string {
  return runtimeMessage === "" ? ownMessage : `${runtimeMessage}: ${ownMessage}`;
}

async function readLogTail(files: Files, logPath: string): Promise<string> {
  // The lines carry a time and a stream each, so more bytes than the message may have are read.
  const raw = await readText(files, logPath, 4 * MAX_LOG_MESSAGE_BYTES);
  const text = raw
    .split("\n")
    .flatMap((line) => parseLogLine(line)?.text ?? [])
    .slice(-MAX_LOG_MESSAGE_LINES)
    .join("");
  return Buffer.from(text).subarray(-MAX_LOG_MESSAGE_BYTES).toString("utf8");
}

/** Empty for a file that is not there or cannot be read: the message is a courtesy, the exit code is the fact. */
async function readText(files: Files, path: string, maxBytes: number): Promise<string> {
  if (path === "") return "";
  return await files.readTail(path, maxBytes).then(
    (bytes) => bytes.toString("utf8"),
    () => "",
  );
}
