import { type Clock, SECOND } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import type { Cgroups } from "../../../host/cgroups-port.ts";
import type { MemoryMarks } from "../../../host/memory-marks-port.ts";
import { planMemoryMarks } from "./plan-memory-marks.ts";
import type { SignalObservations } from "./signals.ts";

/** Has the kernel tell when a threshold of memory is crossed, beside the looks at the node. */
export interface MemoryAlarm {
  /** Sets the thresholds anew by what was just seen, at most each ten seconds. It never throws. */
  adjust(observations: SignalObservations): void;
  /** `onAlarm` is called each time that a threshold may have been crossed. */
  subscribe(onAlarm: () => void): void;
  /** Runs until the signal fires, or until it is known that the kernel cannot tell. */
  run(signal: AbortSignal): Promise<void>;
}

interface MemoryAlarmDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly cgroups: Pick<Cgroups, "openMemoryMarks">;
  /** The cgroup of all pods; undefined while it does not stand. */
  pathOfAllPods(): string | undefined;
}

/** Upstream's `notifierRefreshInterval`. */
const REFRESH_MS = 10 * SECOND;

/**
 * Creates the alarm of `kernelMemcgNotification`. Where the kernel cannot tell, which is said once, nothing but the
 * looks remains.
 */
export function createMemoryAlarm(
  { clock, log, cgroups, pathOfAllPods }: MemoryAlarmDeps,
  thresholds: readonly EvictionThreshold[],
): MemoryAlarm {
  let marks: MemoryMarks | undefined;
  let adjustedAt: number | undefined;
  let hasFailed = false;
  let onAlarm: (() => void) | undefined;

  const complain = (error: unknown): void => {
    const fields = { error: messageOf(error), code: codeOf(error) };
    const words = "Eviction manager: the kernel does not tell when memory runs short; it is looked at only";
    if (!hasFailed) log.warn(words, fields);
    hasFailed = true;
  };

  return {
    adjust(observations) {
      const now = clock.monotonic();
      if (marks === undefined || (adjustedAt !== undefined && now - adjustedAt < REFRESH_MS)) return;
      adjustedAt = now;
      try {
        marks.set(planMemoryMarks(thresholds, observations, pathOfAllPods()));
        hasFailed = false;
      } catch (error) {
        complain(error);
      }
    },
    subscribe(listener) {
      onAlarm = listener;
    },
    async run(signal) {
      try {
        marks = cgroups.openMemoryMarks();
        if (marks === undefined) {
          log.info("Eviction manager: kernelMemcgNotification has no effect: version 2 of cgroups does not notify");
          return;
        }
        await marks.follow(() => onAlarm?.(), signal);
      } catch (error) {
        complain(error);
      } finally {
        marks = undefined;
      }
    },
  };
}
