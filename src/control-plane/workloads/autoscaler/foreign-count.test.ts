import { expect, it } from "vitest";
import { type MeasuredPod, measuredPod } from "./__fixtures__/measured-pods.ts";
import { countByTotal } from "./foreign-count.ts";

const TOLERANCES = { scaleDown: 0.1, scaleUp: 0.1 };
const THREE: readonly MeasuredPod[] = [{}, {}, {}];
const ONE_READY: readonly MeasuredPod[] = [{}, { ready: false }, { ready: false }];

// By the rules of upstream's replica_calculator.go.
it.each<[string, "total" | "each", readonly MeasuredPod[], [bigint, bigint], [number, bigint]]>([
  ["more for more", "total", THREE, [8600n, 4400n], [6, 8600n]],
  ["more for those that are ready", "total", ONE_READY, [8600n, 4400n], [2, 8600n]],
  ["fewer for less", "total", [...THREE, {}, {}], [8600n, 14400n], [3, 8600n]],
  ["as many within the tolerance", "total", THREE, [8600n, 8888n], [3, 8600n]],
  ["more for more of each", "each", THREE, [8600n, 2150n], [4, 2867n]],
  ["fewer for less of each", "each", [...THREE, {}, {}], [8600n, 2867n], [3, 1720n]],
  ["as many within each one's tolerance", "each", THREE, [8600n, 2867n], [3, 2867n]],
  ["no more than can be counted", "total", THREE, [2n ** 63n - 1n, 1n], [2 ** 31 - 1, 2n ** 63n - 1n]],
  ["one's share before there is one", "each", [], [3000n, 2000n], [2, 3000n]],
])("%s", (_what, kind, pods, [milliValue, wanted], [replicas, shown]) => {
  const count = countByTotal({
    milliValue,
    target: { kind, milliValue: wanted },
    currentReplicas: pods.length,
    statusReplicas: pods.length,
    pods: pods.map((options, index) => measuredPod(index, options)),
    tolerances: TOLERANCES,
  });
  expect(count).toEqual({ kind: "count", replicas, milliValue: shown });
});
