import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import type { NodePressure } from "../../cluster/node-status/node-conditions.ts";
import { isBelow, SIGNALS, type SignalObservations } from "./signals.ts";

/**
 * The state that is kept from one look at the node to the next. It is in memory only, like upstream's: a restarted node
 * agent finds out by its first look.
 */
export interface PressureState {
  /**
   * The thresholds that are met, or were met and are not resolved yet, and the time since when, in milliseconds of
   * `Clock.monotonic`.
   */
  readonly metSince: ReadonlyMap<EvictionThreshold, number>;
  /** The thresholds in `metSince` whose grace period is over. They stay until their minimum is reclaimed. */
  readonly held: ReadonlySet<EvictionThreshold>;
  /** The last time when the node was short of each resource, in milliseconds of `Clock.monotonic`. */
  readonly pressedAt: ReadonlyMap<keyof NodePressure, number>;
}

/** The result of one look. */
interface PressureVerdict {
  readonly state: PressureState;
  readonly pressure: NodePressure;
  /** The thresholds that call for an eviction now. */
  readonly due: readonly EvictionThreshold[];
}

interface PressureQuestion {
  readonly thresholds: readonly EvictionThreshold[];
  readonly observations: SignalObservations;
  readonly now: number;
  /** `evictionPressureTransitionPeriod`: a condition stays for this long after it was last observed. */
  readonly transitionPeriodMs: number;
}

export const NO_PRESSURE_STATE: PressureState = { metSince: new Map(), held: new Set(), pressedAt: new Map() };

/**
 * Computes the next state; the function is pure. It follows upstream's `synchronize` up to the point where that acts
 * (pkg/kubelet/eviction/eviction_manager.go), with one difference: a signal that cannot be read changes nothing. Its
 * thresholds keep their state, so that they neither evict a pod nor end a condition.
 */
export function advancePressure(state: PressureState, question: PressureQuestion): PressureVerdict {
  const { thresholds, observations, now, transitionPeriodMs } = question;
  const isStanding = (threshold: EvictionThreshold): boolean => {
    const observed = observations.get(threshold.signal);
    if (observed === undefined) return state.metSince.has(threshold);
    return (
      isBelow(threshold, observed) || (state.held.has(threshold) && isBelow(threshold, observed, threshold.minReclaim))
    );
  };
  const standing = thresholds.filter(isStanding);
  const metSince = new Map(standing.map((threshold) => [threshold, state.metSince.get(threshold) ?? now]));
  const pressedAt = new Map(state.pressedAt);
  for (const { signal } of standing) pressedAt.set(SIGNALS[signal].pressure, now);
  const held = standing.filter((threshold) => now - (metSince.get(threshold) ?? now) >= threshold.gracePeriodMs);
  const isPressed = (kind: keyof NodePressure): boolean => {
    const at = pressedAt.get(kind);
    return at !== undefined && now - at < transitionPeriodMs;
  };
  return {
    state: { metSince, held: new Set(held), pressedAt },
    pressure: { memory: isPressed("memory"), disk: isPressed("disk"), pid: isPressed("pid") },
    due: held.filter(({ signal }) => observations.has(signal)),
  };
}

/**
 * Chooses the threshold to act on first: memory, then the memory that pods may use together, then the others in the
 * given order.
 */
export function chooseThreshold(due: readonly EvictionThreshold[]): EvictionThreshold | undefined {
  const urgency = ({ signal }: EvictionThreshold): number => {
    if (signal === "memory.available") return 0;
    return signal === "allocatableMemory.available" ? 1 : 2;
  };
  return due.toSorted((a, b) => urgency(a) - urgency(b))[0];
}
