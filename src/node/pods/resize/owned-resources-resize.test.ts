import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { createOwnedResizeRule } from "./owned-resources-resize.ts";

function podOf(cpu: string, memory: string, limits?: Record<string, string>): Pod {
  const requests = { cpu, memory };
  return { spec: { containers: [{ name: "main", resources: { requests, limits: limits ?? requests } }] } };
}

const OWNED = { cpus: {}, memory: {} };
const [CPUS, MEMORY] = ["InPlacePodVerticalScalingExclusiveCPUs", "InPlacePodVerticalScalingExclusiveMemory"] as const;
const CLOSED = { [CPUS]: false, [MEMORY]: false } as const;
const GRANTED = podOf("2", "1Gi");

it.each([
  ["CPU", podOf("3", "1Gi"), 'CPU Manager policy "static"'],
  ["memory", podOf("2000m", "2Gi"), 'Memory Manager policy "Static"'],
])("refuses another amount of %s to a Guaranteed pod, in upstream's words", (_what, pod, policy) => {
  expect(createOwnedResizeRule(OWNED, CLOSED)(pod, GRANTED)).toEqual({
    reason: "Infeasible",
    message: `Resize is infeasible for Guaranteed Pods alongside ${policy}`,
    detail: expect.stringMatching(/^guaranteed_pod_(cpu|memory)_manager_static_policy$/),
  });
});

it.each([
  ["memory where it is shared", { ...OWNED, memory: undefined }, podOf("2", "2Gi"), GRANTED],
  ["CPU where it is shared", { ...OWNED, cpus: undefined }, podOf("3", "1Gi"), GRANTED],
  ["the same amounts", OWNED, podOf("2000m", "1024Mi"), GRANTED],
  ["another class of pod", OWNED, podOf("3", "1Gi", { cpu: "4" }), podOf("2", "1Gi", { cpu: "4" })],
])("leaves %s to others", (_what, owned, pod, granted) => {
  expect(createOwnedResizeRule(owned, CLOSED)(pod, granted)).toBeUndefined();
});

it("allows what its gate allows, and no more", () => {
  const both = podOf("3", "2Gi");
  const refusedWith = (gates: object) => createOwnedResizeRule(OWNED, { ...CLOSED, ...gates })(both, GRANTED)?.detail;
  expect(refusedWith({ [CPUS]: true })).toMatch(/_memory_/);
  expect(refusedWith({ [MEMORY]: true })).toMatch(/_cpu_/);
  expect(refusedWith({ [CPUS]: true, [MEMORY]: true })).toBeUndefined();
});
