import { expect, test } from "vitest";
import { createBackOff } from "../../../base/back-off.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { crashLoopBackOffRange, createCrashLoopBackOff } from "./crash-loop-back-off.ts";

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

test("each wait is recorded with its length and its end, and each restart with the next one's", async () => {
  const clock = createFakeClock({ now: 1_000_000 });
  const timeline = createTimeline(clock);
  const backOff = createBackOff({ initialMs: 10_000, maxMs: 300_000 });
  const crashLoops = createCrashLoopBackOff({ backOff, clock, timeline });
  const container = { name: "main", image: "demo:1" };
  const pod = { metadata: { namespace: "default", name: "web", uid: "u" }, spec: { containers: [container] } };
  crashLoops.lengthen(pod, container, 999_000);
  await clock.advance(1_000);
  crashLoops.tell(pod, container, 1_011_000);
  await clock.advance(10_000);
  // The clock is set back meanwhile: the container ended in the future.
  crashLoops.lengthen(pod, container, 2_000_000);
  const told = timeline.read("u").map(({ reason, causes }) => [reason, causes?.[0]?.message, causes?.[0]?.at]);
  expect(told).toEqual([
    ["Restarting", "It ended 1s ago; if it ends again soon, its next start waits 10s", 999_000],
    ["BackOff", "Its next start waits 10s after its end, until 1970-01-01T00:16:51Z", 1_001_000],
    ["Restarting", expect.stringMatching(/^It ended 0s ago; /), 1_011_000],
  ]);
});
