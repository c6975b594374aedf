import type { ContainerState, ContainerStateTerminated, Pod } from "../../../api/gen/types.ts";
import { formatTime } from "../../../base/clock.ts";
import type { ContainerRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";

/** The limit of all termination messages of a pod together, in equal shares (upstream: `normalizeStatus`). */
const MAX_POD_TERMINATION_MESSAGE_BYTES = 12 * 1024;

/** The exit code of a container that was lost, which tells it from one that failed by itself. */
const UNKNOWN_EXIT_CODE = 137;

/** The state of an exited container in a pod's status. Times that the runtime does not know are left out. */
export function terminatedState(
  exited: ContainerRuntimeStatus,
  options: { containerId: string; maxMessageBytes: number },
): ContainerStateTerminated {
  const message = truncate(exited.message, options.maxMessageBytes);
  return {
    exitCode: exited.exitCode,
    reason: exited.reason || (exited.exitCode === 0 ? "Completed" : "Error"),
    ...(message === "" ? {} : { message }),
    ...(exited.startedAt > 0 ? { startedAt: formatTime(exited.startedAt) } : {}),
    ...(exited.finishedAt > 0 ? { finishedAt: formatTime(exited.finishedAt) } : {}),
    containerID: options.containerId,
  };
}

/** The state of a container that runs. */
export function runningState(running: ContainerRuntimeStatus): ContainerState {
  return { running: running.startedAt > 0 ? { startedAt: formatTime(running.startedAt) } : {} };
}

/** The state of a container whose end is unknown: a failure, so that no lost result looks like a success. */
export function lostState(message: string): ContainerStateTerminated {
  return { exitCode: UNKNOWN_EXIT_CODE, reason: "ContainerStatusUnknown", message };
}

/** The reason of the end, and of the waiting, of a container that was removed so that its pod begins anew. */
export const RESTARTING_ALL_CONTAINERS = "RestartingAllContainers";

/** The end of a container that was removed so that its pod begins anew. */
export const ENDED_BY_RESTART: ContainerStateTerminated = {
  exitCode: UNKNOWN_EXIT_CODE,
  reason: RESTARTING_ALL_CONTAINERS,
  message: "The container is removed because RestartAllContainers in place",
};

export const LOST_WHEN_TERMINATED = "The container could not be located when the pod was terminated";
export const LOST_WHILE_RUNNING =
  "The container could not be located when the pod was deleted.  The container used to be Running";

/** The limit of one container's termination message, since a pod's messages are limited together. */
export function maxMessageBytes(pod: Pod): number {
  const containers = (pod.spec?.containers.length ?? 0) + (pod.spec?.initContainers?.length ?? 0);
  return Math.floor(MAX_POD_TERMINATION_MESSAGE_BYTES / Math.max(1, containers));
}

/** Cuts the text to whole characters: half of one would not survive as JSON. */
function truncate(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
