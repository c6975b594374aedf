import { expect, test } from "vitest";
import { crashLoopBackOffRange } from "./crash-loop-back-off.ts";

test.each<[reduced: boolean, configurable: boolean, longest: number | undefined, initialMs: number, maxMs: number]>([
  [false, true, undefined, 10_000, 300_000],
  [false, false, undefined, 10_000, 300_000],
  [false, true, 60_000, 10_000, 60_000],
  [false, true, 2_000, 2_000, 2_000],
  [true, false, undefined, 1_000, 60_000],
  [true, true, 120_000, 1_000, 120_000],
])("reduced %s, configurable %s, longest %s: %s to %s ms", (reduced, configurable, longest, initialMs, maxMs) => {
  const range = crashLoopBackOffRange({
    kubelet: { crashLoopBackOff: { maxContainerRestartPeriod: longest } },
    featureGates: { KubeletCrashLoopBackOffMax: configurable, ReduceDefaultCrashLoopBackOffDecay: reduced },
  });
  expect(range).toEqual({ initialMs, maxMs });
});
