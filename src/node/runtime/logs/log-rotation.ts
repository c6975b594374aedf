import { isAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { repeat } from "../../../base/interval.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import { findLogPlace, type LogPlace } from "./log-place.ts";
import { type RotateLogDeps, type RotationPolicy, rotateLogIfLong } from "./rotate-log.ts";

/** Keeps the logs of running containers from growing without bound. */
interface LogRotation {
  /** Checks all logs periodically until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
}

export interface LogRotationDeps extends RotateLogDeps {
  readonly runtime: Pick<RuntimeService, "containerStatus" | "reopenContainerLog">;
  /** The ids of running containers as PLEG knows them, without a call to the runtime. */
  readonly runningContainers: () => Iterable<string>;
  readonly clock: Clock;
}

interface LogRotationOptions extends RotationPolicy {
  readonly podLogsDirectory: string;
  /** How many logs are rotated at the same time. */
  readonly maxWorkers: number;
  readonly monitorIntervalMs: number;
}

/** Follows upstream's containerLogManager. A log that cannot be rotated does not keep others from being rotated. */
export function createLogRotation(deps: LogRotationDeps, options: LogRotationOptions): LogRotation {
  const places = createLogPlaces(deps, options.podLogsDirectory);
  const complaints = createComplaints(deps);

  const rotate = async (containerId: string, signal: AbortSignal) => {
    try {
      const place = await places.find(containerId, signal);
      if (place !== undefined) await rotateLogIfLong(deps, { containerId, place }, { ...options, signal });
      complaints.settle(containerId);
    } catch (error) {
      if (isAbort(error)) return;
      complaints.tell(containerId, messageOf(error));
    }
  };

  return {
    async run(signal) {
      const workers = createLimiter(options.maxWorkers);
      await repeat(deps.clock, { periodMs: options.monitorIntervalMs, signal }, async () => {
        const running = [...deps.runningContainers()];
        places.keep(running);
        complaints.keep(running);
        await Promise.all(
          running.map(async (id) => {
            // A rotation that still waits for a worker when the signal fires is not begun.
            await workers.run(async () => (signal.aborted ? undefined : await rotate(id, signal)));
          }),
        );
      });
    },
  };
}

/** Remembers where containers write. It never changes, so that the runtime is asked once for each container. */
function createLogPlaces({ runtime }: LogRotationDeps, podLogsDirectory: string) {
  const known = new Map<string, LogPlace | undefined>();
  return {
    /** Finds where the container's log is; undefined where it is not below our directory. */
    async find(containerId: string, signal: AbortSignal): Promise<LogPlace | undefined> {
      if (!known.has(containerId)) {
        const { status } = await runtime.containerStatus({ containerId, verbose: false }, { signal });
        known.set(containerId, findLogPlace(podLogsDirectory, status?.logPath ?? ""));
      }
      return known.get(containerId);
    },
    keep: (ids: readonly string[]) => keepOnly(known, ids),
  };
}

/** Logs each failure to rotate a log once, not each time that it repeats. */
function createComplaints({ log }: Pick<LogRotationDeps, "log">) {
  const told = new Map<string, string>();
  return {
    tell(containerID: string, error: string): void {
      if (told.get(containerID) === error) return;
      told.set(containerID, error);
      log.error("Failed to rotate log for container", { containerID, error });
    },
    settle: (containerId: string) => told.delete(containerId),
    keep: (ids: readonly string[]) => keepOnly(told, ids),
  };
}

function keepOnly(map: Map<string, unknown>, ids: readonly string[]): void {
  const kept = new Set(ids);
  for (const id of [...map.keys()]) if (!kept.has(id)) map.delete(id);
}
