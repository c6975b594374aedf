import { expect, it } from "vitest";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import { computeNextLook } from "./next-look.ts";
import { advancePressure, NO_PRESSURE_STATE } from "./pressure-state.ts";
import type { SignalObservations } from "./signals.ts";

const MIB = 1024 ** 2;
const CAPACITY = 10_000 * MIB;

const threshold = (signal: EvictionThreshold["signal"], quantity: string, gracePeriodMs = 0): EvictionThreshold => {
  return { signal, value: { kind: "quantity", quantity }, gracePeriodMs, minReclaim: undefined };
};
const MEMORY = threshold("memory.available", "100Mi");
const SOFT = threshold("memory.available", "500Mi", 4_000);
const DISK = threshold("nodefs.available", "100Mi");
const seen = (signal: EvictionThreshold["signal"], mebibytes: number, at = 10_000): SignalObservations =>
  new Map([[signal, { available: mebibytes * MIB, capacity: CAPACITY, at }]]);
const large = (mebibytes: number): SignalObservations =>
  new Map([["memory.available", { available: mebibytes * MIB, capacity: 100 * CAPACITY, at: 10_000 }]]);

it.each<[string, readonly EvictionThreshold[], SignalObservations, SignalObservations, number]>([
  ["far from the threshold, as upstream", [MEMORY], large(20_000), new Map(), 10_000],
  ["as if a gibibyte could go each second", [MEMORY], large(100 + 512), new Map(), 500],
  ["as if a tenth of a smaller machine could go", [MEMORY], seen("memory.available", 600), new Map(), 500],
  ["close to it, ten times a second and no more often", [MEMORY], seen("memory.available", 101), new Map(), 100],
  [
    "quicker where it falls quicker",
    [MEMORY],
    seen("memory.available", 1_100),
    seen("memory.available", 3_600, 9_000),
    200,
  ],
  ["not where it rises", [MEMORY], seen("memory.available", 600), seen("memory.available", 0, 9_000), 500],
  ["a disk is not filled that quickly", [DISK], seen("nodefs.available", 101), new Map(), 10_000],
  ["when a grace period ends", [SOFT], seen("memory.available", 400), new Map(), 4_000],
  ["as upstream where it is met, and nothing helped", [MEMORY], seen("memory.available", 50), new Map(), 10_000],
  ["as upstream where nothing is known", [MEMORY], new Map(), new Map(), 10_000],
])("the next look comes %s", (_what, thresholds, observations, previous, expected) => {
  const now = 10_000;
  const question = { thresholds, observations, now, transitionPeriodMs: 1 };
  const { state } = advancePressure(NO_PRESSURE_STATE, question);
  expect(computeNextLook({ thresholds, observations, previous, state, now })).toBeCloseTo(expected, 3);
});
