import { expect, test } from "vitest";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import { type CgroupUsage, NO_CGROUP_MEMORY } from "../../../host/cgroups-port.ts";
import { planPodLimits } from "./pod-limits.ts";

interface Has {
  memory?: number;
  shares?: number;
  quota?: number;
}

function usageOf({ memory, shares, quota }: Has): CgroupUsage {
  return {
    cpu: undefined,
    memory: { ...NO_CGROUP_MEMORY, limit: memory },
    pids: [],
    pressure: {},
    details: {
      cpuShares: shares,
      cpuPeriodMicroseconds: 100_000,
      cpuQuotaMicroseconds: quota,
      throttling: undefined,
      maxMemoryUsage: undefined,
      memoryFailures: undefined,
      kernelMemory: undefined,
      memoryReservation: undefined,
      oomKills: undefined,
      tasks: undefined,
      maxTasks: undefined,
      disks: [],
    },
  };
}

const names = (steps: readonly CgroupLimits[]) => steps.map((step) => Object.keys(step)[0]);

test.each<[has: Has | undefined, wanted: bigint | undefined, before: number, after: number]>([
  [{ memory: 100 }, 200n, 1, 0],
  [{ memory: 200 }, 100n, 0, 1],
  [{ memory: 100 }, 100n, 0, 0],
  [{}, 100n, 0, 1],
  [{ memory: 100 }, undefined, 0, 0],
  [undefined, 100n, 1, 0],
])("memory, from %j to %s: %s before the containers, %s after", (has, memoryBytes, before, after) => {
  const steps = planPodLimits("memory", { now: has && usageOf(has), wanted: { memoryBytes } });
  expect([steps.before.length, steps.after.length]).toEqual([before, after]);
});

const [quota, shares] = ["cpuQuotaMicroseconds", "cpuShares"];
test.each<[name: string, has: Has | undefined, wanted: CgroupLimits, before: unknown[], after: unknown[]]>([
  ["both grow", { shares: 100, quota: 10 }, { cpuShares: 200n, cpuQuotaMicroseconds: 20n }, [quota, shares], []],
  ["both shrink", { shares: 200, quota: 20 }, { cpuShares: 100n, cpuQuotaMicroseconds: 10n }, [], [shares, quota]],
  ["shares alone grow", { shares: 100, quota: 10 }, { cpuShares: 200n }, [shares], []],
  ["the quota goes", { shares: 100, quota: 10 }, { cpuShares: 200n, cpuQuotaMicroseconds: -1n }, [quota, shares], []],
  ["nothing is known", undefined, { cpuShares: 2n, cpuQuotaMicroseconds: 1n }, [quota, shares], []],
])("CPU where %s", (_name, has, wanted, before, after) => {
  const steps = planPodLimits("cpu", { now: has && usageOf(has), wanted });
  expect([names(steps.before), names(steps.after)]).toEqual([before, after]);
});
