import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../api/gen/types.ts";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import { computeClassCgroups, computePodAmounts, computePodCgroup, computeSharedCgroup } from "./cgroup-size.ts";
import { NO_CLASS_REQUESTS } from "./class-requests.ts";

const MI = 1024n * 1024n;
const PERIOD = 100_000n;
const NODE = {
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicroseconds: PERIOD,
  hasMemoryController: true,
  hugepageSizes: ["2MB", "1GB"],
};

/** Parses amounts such as `100m 100Mi`; the text is empty for none. */
function amounts(text: string) {
  const [cpu, memory] = text.split(" ");
  return { ...(cpu && { cpu }), ...(memory && { memory }) };
}

function container(requests: string, limits: string, more: Partial<Container> = {}): Container {
  return { name: "c", resources: { requests: amounts(requests), limits: amounts(limits) }, ...more };
}

function podOf(containers: Container[], spec: Partial<PodSpec> = {}) {
  return { metadata: { uid: "u" }, spec: { containers, ...spec } };
}

/** Computes the limits without huge pages, because the node has none. */
function compute(pod: ReturnType<typeof podOf>, node: Partial<typeof NODE> = {}): CgroupLimits {
  const { hugepages, maxTasks, ...rest } = computePodCgroup(pod, { ...NODE, ...node }, { maxTasks: 5n });
  expect(maxTasks).toBe(5n);
  expect(hugepages).toEqual(
    new Map([
      ["2MB", 0n],
      ["1GB", 0n],
    ]),
  );
  return rest;
}

const sidecar = { restartPolicy: "Always" } as const;
const quota = (cpuQuotaMicroseconds: bigint, cpuPeriodMicroseconds = PERIOD) => ({
  cpuQuotaMicroseconds,
  cpuPeriodMicroseconds,
});

describe("computePodCgroup", () => {
  it.each([
    ["besteffort", [container("", "")], { cpuShares: 2n }],
    ["burstable without limits", [container("100m 100Mi", "")], { cpuShares: 102n }],
    [
      "burstable with limits",
      [container("100m 100Mi", "200m 200Mi")],
      { cpuShares: 102n, ...quota(20_000n), memoryBytes: 200n * MI },
    ],
    [
      "burstable of which one has no limits",
      [container("100m 100Mi", "200m 200Mi"), container("100m 100Mi", "")],
      { cpuShares: 204n },
    ],
    [
      "burstable of which one has no limit of memory",
      [container("100m 100Mi", "200m 200Mi"), container("100m", "100m")],
      { cpuShares: 204n, ...quota(30_000n) },
    ],
    [
      "guaranteed",
      [container("100m 100Mi", "100m 100Mi")],
      { cpuShares: 102n, ...quota(10_000n), memoryBytes: 100n * MI },
    ],
    ["less than the kernel's least", [container("1m", "1m 1Mi")], { cpuShares: 2n, ...quota(1_000n), memoryBytes: MI }],
  ])("%s", (_name, containers, expected) => {
    expect(compute(podOf(containers))).toEqual(expected);
  });

  it("has no quota where the node enforces none", () => {
    const pod = podOf([container("100m 100Mi", "100m 100Mi")]);
    expect(compute(pod, { cpuCfsQuota: false })).toMatchObject(quota(-1n));
  });

  it("has the node's period", () => {
    const pod = podOf([container("100m 100Mi", "100m 100Mi")]);
    expect(compute(pod, { cpuCfsQuotaPeriodMicroseconds: 5_000n })).toMatchObject(quota(1_000n, 5_000n));
  });

  it.each([
    [
      "an init container that has more",
      [container("300m 300Mi", "300m 300Mi")],
      307n,
      { ...quota(30_000n), memoryBytes: 300n * MI },
    ],
    ["an init container without limits", [container("100m", "")], 102n, {}],
    [
      "a sidecar with limits",
      [container("50m 50Mi", "50m 50Mi", sidecar)],
      153n,
      { ...quota(25_000n), memoryBytes: 250n * MI },
    ],
    ["a sidecar without limits", [container("50m", "", sidecar)], 153n, {}],
    [
      "an init container without limits beside a sidecar with some",
      [container("50m 50Mi", "50m 50Mi", sidecar), container("10m", "")],
      153n,
      { ...quota(25_000n), memoryBytes: 250n * MI },
    ],
  ])("counts %s", (_name, initContainers, cpuShares, limits) => {
    const pod = podOf([container("100m 100Mi", "200m 200Mi")], { initContainers });
    expect(compute(pod)).toEqual({ cpuShares, ...limits });
  });

  it("has room for the pod's overhead, where there is a limit", () => {
    const overhead = { cpu: "100m", memory: "10Mi" };
    expect(compute(podOf([container("100m 100Mi", "200m 200Mi")], { overhead }))).toEqual({
      cpuShares: 204n,
      ...quota(30_000n),
      memoryBytes: 210n * MI,
    });
    expect(compute(podOf([container("100m", "")], { overhead }))).toEqual({ cpuShares: 204n });
  });

  it("has the limits of the pod as a whole where it names some", () => {
    const resources = { requests: amounts("500m 500Mi"), limits: amounts("1 1Gi") };
    expect(compute(podOf([container("100m", "")], { resources }))).toEqual({
      cpuShares: 512n,
      ...quota(100_000n),
      memoryBytes: 1024n * MI,
    });
  });

  it("leaves memory alone where the kernel cannot limit it", () => {
    const main = container("100m 100Mi", "100m 100Mi");
    const limits = { cpuShares: 102n, ...quota(10_000n) };
    expect(compute(podOf([main]), { hasMemoryController: false })).toEqual(limits);
  });

  it("has the huge pages that its containers ask for, and none of other sizes", () => {
    const pages = { "hugepages-2Mi": "4Mi" };
    const main = { name: "c", resources: { requests: { cpu: "1", ...pages }, limits: { cpu: "1", ...pages } } };
    const { hugepages } = computePodCgroup(podOf([main, main]), NODE, { maxTasks: undefined });
    expect(hugepages).toEqual(
      new Map([
        ["2MB", 8n * MI],
        ["1GB", 0n],
      ]),
    );
  });
});

describe("shares of the machine", () => {
  it("burstable pods have what they ask for together, the others the least", () => {
    const hugepages = new Map([
      ["2MB", 1n << 62n],
      ["1GB", 1n << 62n],
    ]);
    const requests = { ...NO_CLASS_REQUESTS, Burstable: { milliCpu: 1_500n, memoryBytes: 9n } };
    expect(computeClassCgroups(requests, NODE)).toEqual({
      Guaranteed: { hugepages },
      Burstable: { hugepages, cpuShares: 1_536n },
      BestEffort: { hugepages, cpuShares: 2n },
    });
    expect(computePodAmounts(podOf([container("250m 1Mi", ""), container("1 2Mi", "")]))).toEqual({
      milliCpu: 1_250n,
      memoryBytes: 3n * MI,
    });
  });

  it("of memory are protected and kept back where the node is told to", () => {
    const requests = { ...NO_CLASS_REQUESTS, Burstable: { milliCpu: 0n, memoryBytes: 10n * MI } };
    const node = {
      hugepageSizes: [],
      memoryQos: { isReserving: true, throttlingFactor: 0.9, allocatableBytes: 100n * MI },
      memoryKeptBack: { percent: 50n, allocatableBytes: 100n * MI },
    };
    expect(computeClassCgroups(requests, node)).toMatchObject({
      Guaranteed: { memoryMin: 10n * MI },
      Burstable: { memoryLow: 10n * MI, memoryBytes: 100n * MI },
      BestEffort: { memoryBytes: 95n * MI },
    });
    const pod = podOf([container("100m 1Mi", "")]);
    expect(computePodCgroup(pod, { ...NODE, ...node }, { maxTasks: undefined }).memoryLow).toBe(MI);
  });

  it.each([
    [{ cpu: "2", memory: "1Gi", pid: "100" }, false, { cpuShares: 2_048n, memoryBytes: 1024n * MI, maxTasks: 100n }],
    [{ cpu: "500m", "ephemeral-storage": "1Gi" }, false, { cpuShares: 512n }],
    [{ cpu: "2", memory: "1Gi", pid: "100" }, true, { cpuShares: 2_048n }],
    [{}, true, {}],
  ])("of %j, where only what can be taken back counts: %s", (resources, compressibleOnly, expected) => {
    expect(computeSharedCgroup(resources, { compressibleOnly })).toEqual(expected);
  });
});
