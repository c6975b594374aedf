import type { ImageFailureReason } from "../images/image-outcome.ts";

/**
 * Why a container did not start, as users know it from the container's status:
 * - `CreateContainerConfigError`: no config can be made from what the pod says and what it refers to;
 * - `CreateContainerError`, `RunContainerError`: the runtime failed to create or to start the container;
 * - `PostStartHookError`: the container ran, and was stopped because its postStart hook failed;
 * - `CrashLoopBackOff`: the container failed too often too quickly, and waits;
 * - the others: the container, or one of its volumes, has no image.
 */
type StartFailureReason =
  | "CreateContainerConfigError"
  | "CreateContainerError"
  | "RunContainerError"
  | "PostStartHookError"
  | "CrashLoopBackOff"
  | ImageFailureReason;

/** Why a container did not start: the reason and message of its waiting state. */
export interface StartFailure {
  reason: StartFailureReason;
  message: string;
  /** When another attempt makes sense, milliseconds since the epoch; undefined: after the worker's own back-off. */
  retryAt?: number;
}
