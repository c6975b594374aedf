import { quantityValue } from "../../../api/quantity.ts";
import { SECOND } from "../../../base/clock.ts";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import type { PressureState } from "./pressure-state.ts";
import { SIGNALS, type SignalObservation, type SignalObservations, thresholdQuantity } from "./signals.ts";

/** What is known when a look is over. */
interface LookFacts {
  readonly thresholds: readonly EvictionThreshold[];
  readonly observations: SignalObservations;
  /** Of the look before. */
  readonly previous: SignalObservations;
  readonly state: PressureState;
  readonly now: number;
}

/** As upstream's `evictionMonitoringPeriod`. */
const MONITORING_PERIOD_MS = 10 * SECOND;
/** However close it gets: a look costs the reading of a few files. */
const LEAST_PERIOD_MS = 500;
/** Memory that nobody took yet may be taken as quickly as this: as a part of all of it, and in bytes where that is more. */
const SHARE_PER_MS = 0.01 / SECOND;
const BYTES_PER_MS = (64 * 1024 ** 2) / SECOND;
/** What fell of late may fall quicker. */
const CAUTION = 2;

/**
 * How long until the node is looked at again, pure. Ten seconds, as upstream; sooner where a grace period ends before; and
 * the sooner the less memory is left before a threshold is met, because it is gone in less than ten seconds. Upstream
 * leaves that to notifications of the kernel, which version 2 of cgroups has not and which are off by default.
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
  return distance / Math.max(capacity * SHARE_PER_MS, BYTES_PER_MS, fell * CAUTION);
}
