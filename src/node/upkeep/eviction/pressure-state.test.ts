import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EvictionSignal, EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import { advancePressure, chooseThreshold, NO_PRESSURE_STATE, type PressureState } from "./pressure-state.ts";
import type { SignalObservations } from "./signals.ts";

const GIB = 1024 ** 3;
const TRANSITION_MS = 300_000;

const threshold = (
  signal: EvictionSignal,
  quantity: string,
  more: Partial<EvictionThreshold> = {},
): EvictionThreshold => {
  return { signal, value: { kind: "quantity", quantity }, gracePeriodMs: 0, minReclaim: undefined, ...more };
};
const HARD = threshold("memory.available", "1Gi", { minReclaim: { kind: "quantity", quantity: "512Mi" } });
const SOFT = threshold("memory.available", "2Gi", { gracePeriodMs: 60_000 });
const DISK: EvictionThreshold = { ...threshold("nodefs.available", "1"), value: { kind: "share", share: 0.25 } };

/** Returns observations from the gibibytes that are left. An undefined amount means that the signal cannot be read. */
const seen = (left: Partial<Record<EvictionSignal, number | undefined>>): SignalObservations => {
  const known = Object.entries(left).flatMap(([signal, gibibytes]) =>
    gibibytes === undefined ? [] : [[signal, { available: gibibytes * GIB, capacity: 8 * GIB, at: 0 }] as const],
  );
  return new Map(
    known.map(([signal, observed]) => [signal === "nodefs.available" ? signal : "memory.available", observed]),
  );
};

interface Step {
  readonly atMs: number;
  readonly memory?: number | undefined;
  readonly disk?: number | undefined;
  readonly due?: readonly EvictionThreshold[];
  readonly pressure?: string;
}

const run = (thresholds: readonly EvictionThreshold[], steps: readonly Step[]) => {
  let state: PressureState = NO_PRESSURE_STATE;
  return steps.map(({ atMs, memory, disk }): Step => {
    const observations = seen({ "memory.available": memory, "nodefs.available": disk });
    const verdict = advancePressure(state, { thresholds, observations, now: atMs, transitionPeriodMs: TRANSITION_MS });
    state = verdict.state;
    const pressed = Object.entries(verdict.pressure).flatMap(([kind, is]) => (is ? [kind] : []));
    return { atMs, memory, disk, due: verdict.due, pressure: pressed.join(" ") };
  });
};

describe("what a look at the node comes to", () => {
  it.each<[string, readonly EvictionThreshold[], readonly Step[]]>([
    [
      "as much as the threshold is enough",
      [HARD],
      [
        { atMs: 0, memory: 1, due: [], pressure: "" },
        { atMs: 1, memory: 0.99, due: [HARD], pressure: "memory" },
      ],
    ],
    [
      "it stays met until the minimum is reclaimed on top",
      [HARD],
      [
        { atMs: 0, memory: 0.5, due: [HARD], pressure: "memory" },
        { atMs: 10_000, memory: 1.4, due: [HARD], pressure: "memory" },
        { atMs: 20_000, memory: 1.5, due: [], pressure: "memory" },
        { atMs: 30_000, memory: 1.4, due: [], pressure: "memory" },
      ],
    ],
    [
      "a soft one calls for evictions after its grace period, and begins anew when it was not met between",
      [SOFT],
      [
        { atMs: 0, memory: 1.9, due: [], pressure: "memory" },
        { atMs: 59_999, memory: 1.9, due: [], pressure: "memory" },
        { atMs: 60_000, memory: 1.9, due: [SOFT], pressure: "memory" },
        { atMs: 70_000, memory: 2.1, due: [], pressure: "memory" },
        { atMs: 80_000, memory: 1.9, due: [], pressure: "memory" },
        { atMs: 140_000, memory: 1.9, due: [SOFT], pressure: "memory" },
      ],
    ],
    [
      "a condition ends when the transition period has passed since it was last observed",
      [HARD],
      [
        { atMs: 0, memory: 0, due: [HARD], pressure: "memory" },
        { atMs: 10_000, memory: 4, due: [], pressure: "memory" },
        { atMs: TRANSITION_MS - 1, memory: 4, due: [], pressure: "memory" },
        { atMs: TRANSITION_MS, memory: 4, due: [], pressure: "" },
      ],
    ],
    [
      "what cannot be read evicts nobody and gives nothing up",
      [HARD],
      [
        { atMs: 0, memory: 0.5, due: [HARD], pressure: "memory" },
        { atMs: TRANSITION_MS, memory: undefined, due: [], pressure: "memory" },
        { atMs: 2 * TRANSITION_MS, memory: undefined, due: [], pressure: "memory" },
        { atMs: 2 * TRANSITION_MS + 1, memory: 0.5, due: [HARD], pressure: "memory" },
      ],
    ],
    [
      "what could never be read is no pressure",
      [HARD, DISK],
      [{ atMs: 0, memory: undefined, disk: undefined, due: [], pressure: "" }],
    ],
    [
      "each for itself, a share of what there is",
      [HARD, DISK],
      [
        { atMs: 0, memory: 4, disk: 2, due: [], pressure: "" },
        { atMs: 1, memory: 4, disk: 1.99, due: [DISK], pressure: "disk" },
        { atMs: 2, memory: 0, disk: 1.99, due: [HARD, DISK], pressure: "memory disk" },
      ],
    ],
  ])("%s", (_what, thresholds, steps) =>
    expect(run(thresholds, steps)).toEqual(steps.map((step) => ({ memory: undefined, disk: undefined, ...step }))),
  );

  it("never evicts for what is not met and not held, nor without having seen it", () => {
    const amounts = fc.option(fc.double({ min: 0, max: 4, noNaN: true }), { nil: undefined });
    const looks = fc.array(fc.record({ wait: fc.integer({ min: 1, max: 90_000 }), memory: amounts }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(looks, (all) => {
        let at = 0;
        let state: PressureState = NO_PRESSURE_STATE;
        for (const { wait, memory } of all) {
          at += wait;
          const observations = seen({ "memory.available": memory });
          const thresholds = [HARD, SOFT];
          const verdict = advancePressure(state, {
            thresholds,
            observations,
            now: at,
            transitionPeriodMs: TRANSITION_MS,
          });
          if (memory === undefined) expect(verdict.due).toEqual([]);
          else if (memory >= 2) expect(verdict.due).toEqual([]);
          if (memory !== undefined && memory < 1) expect(verdict.due).toContain(HARD);
          if (verdict.due.length > 0) expect(verdict.pressure.memory).toBe(true);
          state = verdict.state;
        }
      }),
    );
  });
});

it("memory is seen to before anything else, then what pods may use of it, then the rest as it was given", () => {
  const others = [threshold("pid.available", "1"), threshold("nodefs.available", "1")];
  const [pid, disk] = others;
  const allocatable = threshold("allocatableMemory.available", "1");
  expect(chooseThreshold([...others, allocatable, HARD])).toBe(HARD);
  expect(chooseThreshold([...others, allocatable])).toBe(allocatable);
  expect([chooseThreshold(others), chooseThreshold(others.toReversed())]).toEqual([pid, disk]);
  expect(chooseThreshold([])).toBeUndefined();
});
