/** Why a container did not start: the reason and message of its waiting state. */
export interface StartFailure {
  /** `CreateContainerError`, `ImagePullBackOff`, `CrashLoopBackOff`, … */
  reason: string;
  message: string;
  /** When another attempt makes sense, milliseconds since the epoch; undefined: after the worker's own back-off. */
  retryAt?: number;
}
