import { isAbort } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";

/** Volumes that cannot be set up; the message is for the pod's FailedMount event. */
class VolumeError extends Error {
  override readonly name = "VolumeError";
}

/** One volume, and what was thrown when it was set up. */
export interface VolumeFailure {
  readonly volumeName: string;
  readonly error: unknown;
}

/** One error for all volumes that failed, each named as upstream's events name it; the abort where there was one. */
export function volumeError(failures: readonly VolumeFailure[]): Error {
  for (const { error } of failures) if (error instanceof Error && isAbort(error)) return error;
  const messages = failures.map(({ volumeName, error }) => {
    return `MountVolume.SetUp failed for volume "${volumeName}" : ${messageOf(error)}`;
  });
  return new VolumeError(messages.join("; "), { cause: failures[0]?.error });
}
