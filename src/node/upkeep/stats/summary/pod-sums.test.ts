import { expect, it } from "vitest";
import { type CgroupMemory, NO_CGROUP_MEMORY } from "../../../../host/cgroups-port.ts";
import type { PodUsage } from "../readings/usage-snapshot.ts";
import { sumOfPods } from "./pod-sums.ts";

function podWith(memory: CgroupMemory | undefined): PodUsage {
  const usage = { cpu: undefined, memory, pids: [], pressure: {}, details: undefined };
  const container = { at: 1, cpuRate: 0, usage, id: "i", name: "main", createdAt: 0, path: "/i" };
  return {
    pod: { uid: "u", name: "p", namespace: "n" },
    createdAt: 0,
    sandbox: undefined,
    containers: [container],
    cpuTotal: undefined,
    network: undefined,
    pressure: {},
  };
}

it.each([
  ["nothing where there are no pods", [], 0],
  ["what their containers use", [podWith({ ...NO_CGROUP_MEMORY, usage: 5 })], 5],
  ["what nobody knows where the kernel does not count it", [podWith(undefined)], undefined],
])("all pods use %s", (_, pods, usage) => {
  expect(sumOfPods(pods, 1).usage.memory?.usage).toBe(usage);
});
