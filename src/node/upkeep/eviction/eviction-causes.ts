import { type Clock, formatTime, SECOND } from "../../../base/clock.ts";
import type { Cause } from "../../../base/timeline.ts";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import { formatAmount, isHard, SIGNALS, type SignalObservation, thresholdQuantity } from "./signals.ts";

/** What the causes of an eviction are told from. */
interface Pressure {
  readonly threshold: EvictionThreshold;
  /** Since when the threshold is met, in milliseconds of `Clock.monotonic`; undefined where that is not known. */
  readonly metSince: number | undefined;
  /** The reading that the eviction acts on. */
  readonly observed: SignalObservation | undefined;
}

const CONDITIONS = { memory: "MemoryPressure", disk: "DiskPressure", pid: "PIDPressure" } as const;

/**
 * Tells what led to the choice of a pod: the pressure with the time since when it lasts, and the reading behind it. The
 * times are durations before now, because the clock of the readings does not jump and that of the records may.
 */
export function composePressureCauses(
  { threshold, metSince, observed }: Pressure,
  clock: Pick<Clock, "now" | "monotonic">,
): Cause[] {
  const { signal, value, gracePeriodMs } = threshold;
  const { pressure, format, reading } = SIGNALS[signal];
  const toTime = (monotonic: number) => clock.now() - Math.max(0, clock.monotonic() - monotonic);
  const since = toTime(metSince ?? observed?.at ?? clock.monotonic());
  const wanted = observed === undefined ? "its threshold" : thresholdQuantity(value, observed.capacity);
  const kind = isHard(threshold) ? "hard threshold" : `soft threshold (for longer than ${gracePeriodMs / SECOND} s)`;
  const pressed: Cause = {
    reason: CONDITIONS[pressure],
    message: `${signal} is below its ${kind} of ${wanted} since ${formatTime(since)}`,
    at: since,
  };
  if (observed === undefined) return [pressed];
  const [left, all] = [observed.available, observed.capacity].map((amount) => formatAmount(amount, format));
  const read: Cause = {
    reason: "Reading",
    message: `${signal} was read as ${left} of ${all} (${reading})`,
    at: toTime(observed.at),
  };
  return [pressed, read];
}
