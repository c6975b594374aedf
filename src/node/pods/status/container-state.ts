import type { ContainerState, ContainerStateTerminated, Pod } from "../../../api/gen/types.ts";
import { formatTime } from "../../../base/clock.ts";
import type { ContainerRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";

/** All termination messages of a pod together; each container gets an equal share (upstream: `normalizeStatus`). */
const MAX_POD_TERMINATION_MESSAGE_BYTES = 12 * 1024;

/** By which a container that was lost is told from one that failed by itself. */
const UNKNOWN_EXIT_CODE = 137;

/** What an exit looks like in a pod's status. Times that the runtime does not know are left out. */
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

/** For a container of which nobody can say how it ended: as a failure, so that no lost result looks like a success. */
export function lostState(message: string): ContainerStateTerminated {
  return { exitCode: UNKNOWN_EXIT_CODE, reason: "ContainerStatusUnknown", message };
}

export const LOST_WHEN_TERMINATED = "The container could not be located when the pod was terminated";
export const LOST_WHILE_RUNNING =
  "The container could not be located when the pod was deleted.  The container used to be Running";

/** How long one container's termination message may be, since a pod's together are limited. */
export function maxMessageBytes(pod: Pod): number {
  const containers = (pod.spec?.containers.length ?? 0) + (pod.spec?.initContainers?.length ?? 0);
  return Math.floor(MAX_POD_TERMINATION_MESSAGE_BYTES / Math.max(1, containers));
}

/** Cut to whole characters: half of one would not survive as JSON. */
function truncate(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
