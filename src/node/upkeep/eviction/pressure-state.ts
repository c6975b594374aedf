import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import type { NodePressure } from "../../cluster/node-status/node-conditions.ts";
import { isBelow, SIGNALS, type SignalObservations } from "./signals.ts";

/**
 * What is remembered from one look at the node to the next. It is in memory only, as upstream's: a node agent that was
 * started anew finds out by its first look.
 */
export interface PressureState {
  /** Thresholds that are met, or were and are not resolved yet, and since when: milliseconds of `Clock.monotonic`. */
  readonly metSince: ReadonlyMap<EvictionThreshold, number>;
  /** Those of them whose grace period is over: they stay until their minimum is reclaimed. */
  readonly held: ReadonlySet<EvictionThreshold>;
  /** When the node was last seen short of each. */
  readonly pressedAt: ReadonlyMap<keyof NodePressure, number>;
}

/** What one look came to. */
interface PressureVerdict {
  readonly state: PressureState;
  readonly pressure: NodePressure;
  /** These call for an eviction now. */
  readonly due: readonly EvictionThreshold[];
}

interface PressureQuestion {
  readonly thresholds: readonly EvictionThreshold[];
  readonly observations: SignalObservations;
  readonly now: number;
  /** `evictionPressureTransitionPeriod`: so long a condition stays after it was last observed. */
  readonly transitionPeriodMs: number;
}

export const NO_PRESSURE_STATE: PressureState = { metSince: new Map(), held: new Set(), pressedAt: new Map() };

/**
 * The next state, pure; upstream's `synchronize` up to where it acts (pkg/kubelet/eviction/eviction_manager.go), with one
 * difference: what cannot be read says nothing. A threshold whose signal is missing stays what it was, so that it neither
 * evicts anybody nor gives up a condition.
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

/** Whichever is to be seen to first: memory, then what pods may use of it together, then the others as they were given. */
export function chooseThreshold(due: readonly EvictionThreshold[]): EvictionThreshold | undefined {
  const urgency = ({ signal }: EvictionThreshold): number => {
    if (signal === "memory.available") return 0;
    return signal === "allocatableMemory.available" ? 1 : 2;
  };
  return due.toSorted((a, b) => urgency(a) - urgency(b))[0];
}
