import { quantityValue } from "../../../api/quantity.ts";
import { SECOND } from "../../../base/clock.ts";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import type { PressureState } from "./pressure-state.ts";
import { SIGNALS, type SignalObservation, type SignalObservations, thresholdQuantity } from "./signals.ts";

/** The facts that are known at the end of a look at the node. */
interface LookFacts {
  readonly thresholds: readonly EvictionThreshold[];
  readonly observations: SignalObservations;
  /** The observations of the look before. */
  readonly previous: SignalObservations;
  readonly state: PressureState;
  readonly now: number;
}

/** The same period as upstream's `evictionMonitoringPeriod`. */
const MONITORING_PERIOD_MS = 10 * SECOND;
/** The shortest period, however close a threshold is. A look costs only the reading of a few files. */
const LEAST_PERIOD_MS = 100;
/**
 * The rate at which free memory is assumed to be taken: what one process can touch, or this share of the whole memory
 * where that is less, because small machines are slower and closer to their thresholds all the time.
 */
const BYTES_PER_MS = 1024 ** 3 / SECOND;
const SHARE_PER_MS = 0.1 / SECOND;
/** Memory that fell recently may fall faster by this factor. */
const CAUTION = 2;

/**
 * Computes the time until the next look at the node, in milliseconds; the function is pure. The time is ten seconds, as
 * upstream. It is shorter if a grace period ends earlier. It is also shorter the less memory is left above a threshold,
 * because memory can be gone in less than ten seconds. Upstream relies on the kernel's notifications for that; version
 * 2 of cgroups does not have them, and they are off by default.
 */
export function computeNextLook({ thresholds, observations, previous, state, now }: LookFacts): number {
  const waits = [MONITORING_PERIOD_MS];
  for (const threshold of thresholds) {
    const since = state.metSince.get(threshold);
    if (since !== undefined) {
      const left = since + threshold.gracePeriodMs - now;
      if (left > 0) waits.push(left);
    } else if (SIGNALS[threshold.signal].resource === "memory") {
      const observed = observations.get(threshold.signal);
      if (observed !== undefined) waits.push(timeLeft(threshold, observed, previous.get(threshold.signal)));
    }
  }
  return Math.max(LEAST_PERIOD_MS, Math.min(...waits));
}

function timeLeft(
  { value }: EvictionThreshold,
  { available, capacity, at }: SignalObservation,
  before: SignalObservation | undefined,
): number {
  const distance = available - Number(quantityValue(thresholdQuantity(value, capacity)));
  const elapsed = before === undefined ? 0 : at - before.at;
  const fell = before === undefined || elapsed <= 0 ? 0 : (before.available - available) / elapsed;
  return distance / Math.max(Math.min(capacity * SHARE_PER_MS, BYTES_PER_MS), fell * CAUTION);
}
