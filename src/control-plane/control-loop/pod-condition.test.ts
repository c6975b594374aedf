import { describe, expect, test } from "vitest";
import type { Pod, PodCondition } from "../../api/gen/types.ts";
import { ofGeneration, withPodCondition } from "./pod-condition.ts";

const NOW = "2026-01-01T00:00:10Z";
const BEFORE = "2026-01-01T00:00:00Z";
const WANTED = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "m" };
const OTHER: PodCondition = { type: "Ready", status: "False" };
const podWith = (conditions: PodCondition[], generation?: number): Pod => ({
  metadata: { name: "p", ...(generation !== undefined && { generation }) },
  status: { phase: "Pending", conditions },
});
const said = (pod: Pod) => withPodCondition(pod, ofGeneration(WANTED, pod), NOW)?.status?.conditions;

describe("a condition that is said of a pod", () => {
  test.each<[string, Pod, PodCondition[] | undefined]>([
    ["is new", podWith([OTHER], 2), [OTHER, { ...WANTED, observedGeneration: 2, lastTransitionTime: NOW }]],
    ["of a pod without a generation has none", podWith([]), [{ ...WANTED, lastTransitionTime: NOW }]],
    [
      "changes its message and not its time",
      podWith([{ ...WANTED, message: "n", lastTransitionTime: BEFORE, observedGeneration: 1 }, OTHER], 2),
      [{ ...WANTED, lastTransitionTime: BEFORE, observedGeneration: 2 }, OTHER],
    ],
    [
      "changes its status and its time",
      podWith([{ ...WANTED, status: "True", lastTransitionTime: BEFORE }], 1),
      [{ ...WANTED, lastTransitionTime: NOW, observedGeneration: 1 }],
    ],
    [
      "is no news for another generation alone",
      podWith([{ ...WANTED, lastTransitionTime: BEFORE, observedGeneration: 1 }], 2),
      undefined,
    ],
  ])("%s", (_case, pod, expected) => {
    expect(said(pod)).toEqual(expected);
  });
});
