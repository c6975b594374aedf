import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { computeShutdownPeriods, groupByPeriod } from "./shutdown-periods.ts";

const GATES = { GracefulNodeShutdown: true, GracefulNodeShutdownBasedOnPodPriority: true };
const NONE = { shutdownGracePeriod: 0, shutdownGracePeriodCriticalPods: 0 };
const TWO = { shutdownGracePeriod: 30_000, shutdownGracePeriodCriticalPods: 10_000 };
const BY_PRIORITY = [
  { priority: 100_000, shutdownGracePeriodSeconds: 10 },
  { priority: 0, shutdownGracePeriodSeconds: 60 },
  { priority: 1_000, shutdownGracePeriodSeconds: 120 },
];

describe("the periods of a shutdown", () => {
  const cases: ReadonlyArray<[string, ReturnType<typeof computeShutdownPeriods>, string]> = [
    ["none without a configuration", computeShutdownPeriods(NONE, GATES), ""],
    [
      "two of priorities, of which the critical is a part of the whole",
      computeShutdownPeriods(TWO, GATES),
      "0=20 2000000000=10",
    ],
    ["whole seconds", computeShutdownPeriods({ ...TWO, shutdownGracePeriod: 30_900 }, GATES), "0=20 2000000000=10"],
    ["none with the gate off", computeShutdownPeriods(TWO, { ...GATES, GracefulNodeShutdown: false }), ""],
    [
      "by priority, sorted",
      computeShutdownPeriods({ ...NONE, shutdownGracePeriodByPodPriority: BY_PRIORITY }, GATES),
      "0=60 1000=120 100000=10",
    ],
    [
      "not by priority with its gate off",
      computeShutdownPeriods(
        { ...TWO, shutdownGracePeriodByPodPriority: BY_PRIORITY },
        { ...GATES, GracefulNodeShutdownBasedOnPodPriority: false },
      ),
      "0=20 2000000000=10",
    ],
  ];
  it.each(cases)("are %s", (_name, periods, expected) => {
    expect(periods.map(({ priority, seconds }) => `${priority}=${seconds}`).join(" ")).toBe(expected);
  });
});

describe("a pod's group", () => {
  const periods = computeShutdownPeriods({ ...NONE, shutdownGracePeriodByPodPriority: BY_PRIORITY }, GATES);
  it.each([
    [undefined, 0],
    [-5, 0],
    [0, 0],
    [999, 0],
    [1_000, 1_000],
    [99_999, 1_000],
    [100_000, 100_000],
    [2_000_001_000, 100_000],
  ])("of priority %s is the one from %s on", (priority, expected) => {
    const pod: Pod = { spec: { containers: [], ...(priority !== undefined && { priority }) } };
    const found = groupByPeriod(periods, [pod]).filter(({ pods }) => pods.length > 0);
    expect(found.map(({ period }) => period.priority)).toEqual([expected]);
  });

  it("comes in the order of the periods, whatever that of the pods", () => {
    const pods = [100_000, 0, 1_000].map((priority): Pod => ({ spec: { containers: [], priority } }));
    expect(groupByPeriod(periods, pods).map((group) => group.pods.map(({ spec }) => spec?.priority))).toEqual([
      [0],
      [1_000],
      [100_000],
    ]);
  });
});
