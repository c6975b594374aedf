import { expect, it } from "vitest";
import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import type { Decision } from "../../../base/timeline.ts";
import { createPodRejecter } from "./reject-pod.ts";

it("fails a refused pod with the reason, in its status and its timeline", () => {
  const decisions: Decision[] = [];
  const statuses: PodStatus[] = [];
  const reject = createPodRejecter({
    clock: { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) },
    timeline: { record: (_, decision) => void decisions.push(decision) },
    statuses: { set: (_, status) => void statuses.push(status) },
  });
  const pod: Pod = { metadata: { uid: "1", name: "a", namespace: "b" }, spec: { containers: [] } };
  reject(pod, { reason: "OutOfcpu", message: "Node didn't have enough resource: cpu" });
  expect(decisions).toEqual([
    { type: "Warning", reason: "OutOfcpu", message: "Node didn't have enough resource: cpu" },
  ]);
  expect(statuses).toEqual([
    {
      phase: "Failed",
      reason: "OutOfcpu",
      message: "Pod was rejected: Node didn't have enough resource: cpu",
      qosClass: "BestEffort",
      startTime: "2026-01-02T03:04:05Z",
    },
  ]);
});
