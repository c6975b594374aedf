import { expect, test } from "vitest";
import type { ObjectOf } from "../../../api/object.ts";
import { workloadPod } from "./__fixtures__/workload-objects.ts";
import { rankForDeletion } from "./rank-for-deletion.ts";

const NOW = Date.parse("2026-01-01T10:00:00Z");
const annotated = (cost: string) => ({ annotations: { "controller.kubernetes.io/pod-deletion-cost": cost } });
const created = (creationTimestamp: string) => ({ metadata: { creationTimestamp } });

test.each<[string, first: ObjectOf<"Pod">, second: ObjectOf<"Pod">]>([
  ["without a node", workloadPod("z", { nodeName: "" }), workloadPod("a", { phase: "Pending" })],
  ["pending", workloadPod("z", { phase: "Pending" }), workloadPod("a", { phase: "Unknown" })],
  ["unknown", workloadPod("z", { phase: "Unknown" }), workloadPod("a")],
  ["not ready", workloadPod("z", { readySince: undefined }), workloadPod("a", { metadata: annotated("-5") })],
  ["of a low cost", workloadPod("z", { metadata: annotated("-5") }), workloadPod("a")],
  ["cheaper than a dear one", workloadPod("z"), workloadPod("a", { metadata: annotated("7"), nodeName: "n2" })],
  ["ready since recently", workloadPod("z", { readySince: "2026-01-01T09:59:00Z" }), workloadPod("a")],
  ["restarted often", workloadPod("z", { restarts: 3 }), workloadPod("a", { restarts: 2 })],
  ["young", workloadPod("z", created("2026-01-01T09:59:00Z")), workloadPod("a", created("2026-01-01T00:00:00Z"))],
  [
    "the one that chance chooses, where both are of about one age",
    workloadPod("a", created("2026-01-01T00:00:10Z")),
    workloadPod("z", created("2026-01-01T00:00:20Z")),
  ],
])("the first pod to go is %s", (_what, first, second) => {
  expect(rankForDeletion([second, first], { now: NOW })).toEqual([first, second]);
  expect(rankForDeletion([first, second], { now: NOW })).toEqual([first, second]);
});

test("a cost that is no integer counts as none", () => {
  const pods = [workloadPod("a", { metadata: annotated("+9") }), workloadPod("b", { restarts: 1 })];
  expect(rankForDeletion(pods, { now: NOW }).map(({ metadata }) => metadata.name)).toEqual(["b", "a"]);
});

test("a pod goes earlier where more of its kin share its node", () => {
  const related = [workloadPod("b", { nodeName: "n2" }), workloadPod("c", { nodeName: "n2" }), workloadPod("a")];
  const pods = [workloadPod("a"), workloadPod("b", { nodeName: "n2" })];
  expect(rankForDeletion(pods, { now: NOW, related }).map(({ metadata }) => metadata.name)).toEqual(["b", "a"]);
});
