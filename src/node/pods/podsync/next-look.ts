import type { StartFailure } from "../../runtime/pod-runtime/start-failure.ts";
import { IncompleteSyncError, type SyncResult } from "../workers/pod-syncer.ts";
import { deadlineOf } from "./deadline-step.ts";
import type { SyncingRun } from "./sync-run.ts";

/** A container did not start, and it is not known when it may be tried again. */
class ContainerStartError extends Error {
  override readonly name = "ContainerStartError";
  readonly container: string;
  readonly reason: string;

  constructor(container: string, { reason, message }: StartFailure) {
    super(`failed to start container "${container}" with ${reason}: ${message}`);
    this.container = container;
    this.reason = reason;
  }
}

/**
 * When to look again at a pod whose containers were started: at its deadline, or when a container may be tried again. A
 * failure without a time is an error, so that the worker backs off.
 */
export function planNextLook(
  { pod, status, retryAt: wanted }: Pick<SyncingRun, "pod" | "status" | "retryAt">,
  failures: ReadonlyMap<string, StartFailure>,
): SyncResult {
  const times = [...failures.values()].map(({ retryAt }) => retryAt).concat(deadlineOf(pod, status), wanted);
  const known = times.filter((time) => time !== undefined);
  const retryAt = known.length === 0 ? undefined : Math.min(...known);
  const untimed = [...failures].find(([, failure]) => failure.retryAt === undefined);
  if (untimed !== undefined) {
    const error = new ContainerStartError(...untimed);
    // The back-off of this container must not hold up the others, whose times are known.
    throw retryAt === undefined ? error : new IncompleteSyncError(error.message, retryAt, { cause: error });
  }
  return retryAt === undefined ? { terminal: false } : { terminal: false, retryAt };
}
