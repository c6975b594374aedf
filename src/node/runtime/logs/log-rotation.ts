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

export interface LogRotationDeps extends Omit<RotateLogDeps, "isRunning"> {
  readonly runtime: Pick<RuntimeService, "containerStatus" | "reopenContainerLog">;
  /** The running containers as PLEG knows them, without a call to the runtime. */
  readonly runningContainers: () => Iterable<RunningContainer>;
  readonly clock: Clock;
}

interface RunningContainer {
  readonly id: string;
  /** As the runtime told it; undefined where it has yet to be asked. */
  readonly logPath: string | undefined;
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
  const isRunning = (containerId: string) => [...deps.runningContainers()].some(({ id }) => id === containerId);

  const rotate = async (container: RunningContainer, signal: AbortSignal) => {
    const { id: containerId } = container;
    try {
      const place = await places.find(container, signal);
      if (place !== undefined)
        await rotateLogIfLong({ ...deps, isRunning }, { containerId, place }, { ...options, signal });
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
        const ids = running.map(({ id }) => id);
        places.keep(ids);
        complaints.keep(ids);
        await Promise.all(
          running.map(async (container) => {
            // A rotation that still waits for a worker when the signal fires is not begun.
            await workers.run(async () => (signal.aborted ? undefined : await rotate(container, signal)));
          }),
        );
      });
    },
  };
}

/** Remembers where containers write. It never changes, so that the runtime is asked once at most for each container. */
function createLogPlaces({ runtime }: LogRotationDeps, podLogsDirectory: string) {
  const known = new Map<string, LogPlace | undefined>();
  return {
    /** Finds where the container's log is; undefined where it is not below our directory. */
    async find({ id, logPath }: RunningContainer, signal: AbortSignal): Promise<LogPlace | undefined> {
      if (!known.has(id)) {
        const path = logPath ?? (await readLogPath(runtime, id, signal));
        known.set(id, findLogPlace(podLogsDirectory, path));
      }
      return known.get(id);
    },
    keep: (ids: readonly string[]) => keepOnly(known, ids),
  };
}

async function readLogPath(
  runtime: LogRotationDeps["runtime"],
  containerId: string,
  signal: AbortSignal,
): Promise<string> {
  const { status } = await runtime.containerStatus({ containerId, verbose: false }, { signal });
  return status?.logPath ?? "";
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
