import { expect, it } from "vitest";
import { MINUTE, SECOND } from "../../../base/clock.ts";
import { type MeasuredPod, measuredPod, NOW, podMetrics } from "./__fixtures__/measured-pods.ts";
import { AUTOSCALER_DEFAULTS } from "./autoscaler-settings.ts";
import { computeReplicaCount, type UsageInput } from "./replica-count.ts";

// These are the cases of upstream's replica_calculator_test.go, with its periods.
const settings = { ...AUTOSCALER_DEFAULTS, cpuInitializationMs: 2 * MINUTE, initialReadinessDelayMs: 10 * SECOND };

interface Case {
  readonly pods: number | readonly MeasuredPod[];
  /** What each container of each pod uses, or both of them. */
  readonly levels: ReadonlyArray<number | readonly number[]>;
  /** Default 30 percent. */
  readonly target?: number;
  /** Default: as many as there are pods. */
  readonly current?: number;
  readonly container?: string;
  readonly down?: number;
  readonly up?: number;
}

function count({ pods, levels, target = 30, current, container, down = 0.1, up = 0.1 }: Case, value?: bigint) {
  const made: readonly MeasuredPod[] = typeof pods === "number" ? Array.from({ length: pods }, () => ({})) : pods;
  const input: UsageInput = {
    resource: { name: "cpu", container },
    target: value === undefined ? { kind: "utilization", percent: target } : { kind: "value", milliValue: value },
    currentReplicas: current ?? made.length,
    pods: made.map((options, index) => measuredPod(index, options)),
    podMetrics: podMetrics(levels.map((level) => (typeof level === "number" ? [level, level] : level))),
    tolerances: { scaleDown: down, scaleUp: up },
    settings,
    now: NOW,
  };
  const result = computeReplicaCount(input);
  if (result.kind === "failed") return result.message;
  return [result.replicas, result.utilization, Number(result.averageMilliValue)];
}

const HOT: MeasuredPod = { age: 0 };
const COOL: MeasuredPod = { age: 3 * MINUTE };
const OK: MeasuredPod = {};
const UNREADY: MeasuredPod = { ready: false };
const FAILED: MeasuredPod = { ready: false, phase: "Failed" };
const PENDING: MeasuredPod = { ready: false, phase: "Pending" };
const GOING: MeasuredPod = { ready: false, deleted: true };
const TWO = "container2";
const UP = [300, 500, 700];
const DOWN = [100, 300, 500, 250, 250];
const JITTER: readonly MeasuredPod[] = [{ cpu: "0.9" }, { cpu: "1" }, { cpu: "1.1" }];

it.each<[string, Case, readonly (number | undefined)[]]>([
  ["more for more use", { pods: 3, levels: UP }, [5, 50, 1000]],
  [
    "one container's use",
    {
      pods: 3,
      levels: [
        [1000, 300],
        [1000, 500],
        [1000, 700],
      ],
      container: TWO,
    },
    [5, 50, 500],
  ],
  ["fewer more while one is not ready", { pods: [UNREADY, OK, OK], levels: UP }, [4, 60, 1200]],
  ["fewer more while one starts", { pods: [HOT, COOL, COOL], levels: UP }, [4, 60, 1200]],
  [
    "the same of a container",
    {
      pods: [HOT, COOL, COOL],
      levels: [
        [0, 300],
        [0, 500],
        [0, 700],
      ],
      container: TWO,
    },
    [4, 60, 600],
  ],
  ["no more while most are not ready", { pods: [OK, UNREADY, UNREADY], levels: [400, 500, 700] }, [3, 40, 800]],
  [
    "no more while most start",
    { pods: [COOL, { ...HOT, ready: false }, { ...HOT, ready: false }], levels: [400, 500, 700] },
    [3, 40, 800],
  ],
  ["nothing of failed pods", { pods: [OK, OK, FAILED, FAILED], levels: [500, 700], current: 2 }, [4, 60, 1200]],
  [
    "nothing of failed pods without the container",
    { pods: [OK, OK, FAILED, FAILED], levels: [[1000, 500], [9000, 700], [1000], [9000]], current: 2, container: TWO },
    [4, 60, 600],
  ],
  ["nothing of pods that go", { pods: [OK, OK, GOING, GOING], levels: [500, 700], current: 2 }, [4, 60, 1200]],
  ["fewer for less use", { pods: 5, levels: DOWN, target: 50 }, [3, 28, 560]],
  ["fewer without those not ready", { pods: [OK, OK, OK, UNREADY, UNREADY], levels: DOWN, target: 50 }, [2, 30, 600]],
  [
    "fewer without those not placed",
    { pods: [OK, PENDING, PENDING, PENDING, PENDING], levels: DOWN, target: 50 },
    [1, 10, 200],
  ],
  ["fewer without those that start", { pods: [COOL, COOL, COOL, HOT, HOT], levels: DOWN, target: 50 }, [2, 30, 600]],
  [
    "fewer beside failed ones",
    { pods: [OK, OK, OK, OK, OK, FAILED, FAILED], levels: DOWN, target: 50, current: 5 },
    [3, 28, 560],
  ],
  ["as many within the tolerance", { pods: JITTER, levels: [1010, 1030, 1020], target: 100 }, [3, 102, 2040]],
  ["more outside of none", { pods: JITTER, levels: [909, 1010, 1111], target: 100, up: 0, down: 0 }, [4, 101, 2020]],
  ["as many within 200 %", { pods: JITTER, levels: [1890, 1910, 1900], target: 100, up: 2 }, [3, 190, 3800]],
  ["more outside of 8 %", { pods: JITTER, levels: [1100, 1080, 1090], target: 100, down: 2, up: 0.08 }, [4, 109, 2180]],
  ["as many within 36 % less", { pods: JITTER, levels: [660, 640, 650], target: 100, down: 0.36 }, [3, 65, 1300]],
  ["fewer outside of 34 % less", { pods: JITTER, levels: [660, 640, 650], target: 100, down: 0.34 }, [2, 65, 1300]],
  [
    "nothing of pods of others",
    { pods: 4, levels: [4000, 9500, 3000, 7000, 3200, 2000], target: 100 },
    [24, 587, 11750],
  ],
  ["fewer, with all of what is not known", { pods: 4, levels: [400, 95], target: 100 }, [3, 24, 495]],
  ["as many at the target", { pods: 2, levels: [1000], target: 100 }, [2, 100, 2000]],
  ["as many when the unknown could turn it up", { pods: 2, levels: [1900], target: 100 }, [2, 190, 3800]],
  ["as many when the unknown could turn it down", { pods: 2, levels: [600], target: 100 }, [2, 60, 1200]],
  ["as many with one unready, one unknown", { pods: [UNREADY, OK, OK], levels: [100, 450], target: 50 }, [3, 45, 900]],
  ["as many with one hot, one unknown", { pods: [HOT, COOL, COOL], levels: [100, 450], target: 50 }, [3, 45, 900]],
  ["more with one unready, one unknown", { pods: [UNREADY, OK, OK], levels: [100, 2000], target: 50 }, [4, 200, 4000]],
  [
    "fewer with one unready, one unknown",
    { pods: [UNREADY, OK, OK, OK], levels: [100, 100, 100], target: 50 },
    [3, 10, 200],
  ],
  [
    "fewer, with more than all of what is not known",
    { pods: [UNREADY, OK, { cpu: "2" }, { cpu: "2" }], levels: [200, 100, 100], target: 300 },
    [2, 6, 200],
  ],
  ["as many during a surge", { pods: 3, levels: [100, 100], target: 50, current: 2 }, [2, 10, 200]],
])("counts %s", (_what, given, expected) => {
  expect(count(given)).toEqual(expected);
});

it.each<[string, Case, string]>([
  [
    "pods are not measured",
    { pods: 4, levels: [] },
    "unable to get metrics for resource cpu: no metrics returned from resource metrics API",
  ],
  ["there are no pods", { pods: 0, levels: [100] }, "no pods returned by selector while calculating replica count"],
  [
    "no pod is ready",
    { pods: [UNREADY], levels: [100] },
    "did not receive metrics for targeted pods (pods might be unready)",
  ],
  [
    "a container asks for nothing",
    { pods: [{ cpu: "" }], levels: [100] },
    "missing request for cpu in container container1 of Pod pod-0",
  ],
  [
    "there is no such container",
    { pods: 1, levels: [[1, 2, 3]], container: "x" },
    "did not receive metrics for targeted pods (pods might be unready)",
  ],
])("does not count while %s", (_what, given, message) => {
  expect(count(given)).toBe(message);
});

it("counts by amounts, in which pods that do not start are no others", () => {
  const levels = (...values: number[]) => values.map((value) => [value]);
  expect(count({ pods: 3, levels: levels(20_000, 10_000, 30_000) }, 15_000n)).toEqual([4, undefined, 20_000]);
  expect(count({ pods: 5, levels: levels(12_000, 12_000, 12_000, 12_000, 12_000) }, 20_000n)).toEqual([
    3,
    undefined,
    12_000,
  ]);
  expect(count({ pods: 3, levels: levels(20_000, 21_000, 21_000) }, 20_000n)).toEqual([3, undefined, 20_666]);
  expect(count({ pods: 3, levels: levels(20_000, 21_000, 21_000), up: 0.01 }, 20_000n)).toEqual([4, undefined, 20_666]);
  expect(count({ pods: 5, levels: levels(20_000, 19_000, 21_000) }, 20_000n)).toEqual([5, undefined, 20_000]);
  expect(count({ pods: 3, levels: levels(10_000, 10_000), current: 2 }, 17_000n)).toEqual([2, undefined, 10_000]);
});
