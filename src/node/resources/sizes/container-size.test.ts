import { describe, expect, it } from "vitest";
import type { Container, Pod, PodSpec } from "../../../api/gen/types.ts";
import { computeContainerResources, computeOverheadResources, computeSandboxResources } from "./container-size.ts";
import type { SizingFacts } from "./sizing-facts.ts";

const MI = 1024n * 1024n;

function node(overrides: Partial<SizingFacts> = {}): SizingFacts {
  return {
    memoryCapacityBytes: 1000n * MI,
    cpuCfsQuota: true,
    cpuCfsQuotaPeriodMicroseconds: 100_000n,
    cgroupVersion: 2,
    hasMemoryController: true,
    singleProcessOomKill: false,
    swap: { controllerAvailable: true, behavior: "NoSwap", capacityBytes: 500n * MI },
    hugepageSizes: ["2MB"],
    ...overrides,
  };
}

const container = (resources: Container["resources"] = {}): Container => ({ name: "main", resources });

function podOf(main: Container, spec: Partial<PodSpec> = {}): Pod {
  return { metadata: { name: "p", namespace: "n", uid: "u" }, spec: { containers: [main], ...spec } };
}

function compute(main: Container, facts: SizingFacts = node(), spec: Partial<PodSpec> = {}) {
  return computeContainerResources(podOf(main, spec), main, facts);
}

describe("computeContainerResources", () => {
  it("writes the files of memory QoS beside the others", () => {
    const memoryQos = { isReserving: true, throttlingFactor: 0.5, allocatableBytes: 100n * MI };
    const main = container({ requests: { memory: "10Mi" }, limits: { memory: "20Mi" } });
    expect(compute(main, node({ memoryQos })).unified).toEqual({
      "memory.oom.group": "1",
      "memory.swap.max": "0",
      "memory.low": `${10n * MI}`,
      "memory.high": `${15n * MI}`,
    });
  });

  it("gives a container without resources the kernel's least CPU and no limits", () => {
    expect(compute(container())).toMatchObject({
      cpuShares: 2n,
      cpuPeriod: 100_000n,
      cpuQuota: 0n,
      memoryLimitInBytes: 0n,
      oomScoreAdj: 1000n,
      hugepageLimits: [{ pageSize: "2MB", limit: 0n }],
    });
  });

  it("takes a missing CPU request from the limit, but not a request of zero", () => {
    expect(compute(container({ limits: { cpu: "2" } })).cpuShares).toBe(2048n);
    expect(compute(container({ requests: { cpu: "0" }, limits: { cpu: "2" } })).cpuShares).toBe(2n);
  });

  it("sets neither quota nor period when quotas are off", () => {
    const resources = compute(container({ limits: { cpu: "2" } }), node({ cpuCfsQuota: false }));
    expect(resources).toMatchObject({ cpuQuota: 0n, cpuPeriod: 0n });
  });

  it("bounds a container without limits by its pod's", () => {
    const resources = compute(container({ limits: { memory: "64Mi" } }), node(), {
      resources: { limits: { cpu: "500m", memory: "128Mi" } },
    });
    expect(resources).toMatchObject({ cpuQuota: 50_000n, memoryLimitInBytes: 64n * MI });
  });

  it.each<{ why: string; facts: SizingFacts; unified: Record<string, string> }>([
    { why: "on v2 the whole container dies of OOM", facts: node(), unified: { "memory.oom.group": "1" } },
    { why: "unless single processes shall", facts: node({ singleProcessOomKill: true }), unified: {} },
    { why: "not without the memory controller", facts: node({ hasMemoryController: false }), unified: {} },
    { why: "v1 has no such thing", facts: node({ cgroupVersion: 1 }), unified: {} },
  ])("$why", ({ facts, unified }) => {
    const withoutSwap = { ...facts, swap: { ...facts.swap, controllerAvailable: false } };
    expect(compute(container(), withoutSwap).unified).toEqual(unified);
  });
});

describe("swap of a container", () => {
  const limited = node({ swap: { controllerAvailable: true, behavior: "LimitedSwap", capacityBytes: 500n * MI } });
  const burstable = container({ requests: { memory: "100Mi" }, limits: { memory: "200Mi" } });

  it.each<{ why: string; main: Container; facts: SizingFacts; spec?: Partial<PodSpec>; max: string | undefined }>([
    { why: "none by default", main: burstable, facts: node(), max: "0" },
    { why: "limited: its share of the memory", main: burstable, facts: limited, max: `${50n * MI}` },
    { why: "limited: not for best effort", main: container(), facts: limited, max: "0" },
    { why: "limited: not for critical pods", main: burstable, facts: limited, spec: { priority: 2e9 }, max: "0" },
    {
      why: "limited: not where request equals limit",
      main: container({ requests: { memory: "1Mi" }, limits: { memory: "1Mi" } }),
      facts: limited,
      max: "0",
    },
    {
      why: "no swap controller: nothing is said",
      main: burstable,
      facts: { ...limited, swap: { ...limited.swap, controllerAvailable: false } },
      max: undefined,
    },
  ])("$why", ({ main, facts, spec, max }) => {
    expect(compute(main, facts, spec).unified["memory.swap.max"]).toBe(max);
  });

  it("on cgroup v1 makes memory and swap together no more than memory", () => {
    expect(compute(burstable, { ...limited, cgroupVersion: 1 })).toMatchObject({
      memoryLimitInBytes: 200n * MI,
      memorySwapLimitInBytes: 200n * MI,
    });
  });
});

describe("sandbox", () => {
  const main = container({ requests: { cpu: "250m" }, limits: { cpu: "500m", memory: "64Mi" } });
  const pod = podOf(main, { overhead: { cpu: "10m", memory: "5Mi" } });

  it("sums the containers without the overhead", () => {
    const expected = { cpuShares: 256n, cpuQuota: 50_000n, memoryLimitInBytes: 64n * MI, oomScoreAdj: 0n };
    expect(computeSandboxResources(pod, node())).toMatchObject(expected);
  });

  it("treats the overhead as request and limit", () => {
    const expected = { cpuShares: 10n, cpuQuota: 1000n, memoryLimitInBytes: 5n * MI };
    expect(computeOverheadResources(pod, node())).toMatchObject(expected);
    expect(computeOverheadResources(podOf(main), node())).toMatchObject({ cpuShares: 0n, cpuPeriod: 0n });
  });
});
