import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { computePodRequests } from "../../../api/resources.ts";
import {
  computeClassMemory,
  computeClassProtection,
  computeContainerMemoryQos,
  computePodProtection,
} from "./memory-qos.ts";
import type { MemoryQos } from "./sizing-facts.ts";

const MI = 1024n * 1024n;
const RESERVING: MemoryQos = { isReserving: true, throttlingFactor: 0.9, allocatableBytes: 1_000n * MI };
const THROTTLING: MemoryQos = { ...RESERVING, isReserving: false };

/** A container and its pod, whose CPU makes the pod guaranteed where memory does too. */
function podOf(request: string, limit: string): { pod: Pod; container: Container } {
  const amounts = (memory: string) => ({ cpu: "1", ...(memory !== "" && { memory }) });
  const resources = { requests: amounts(request), limits: amounts(limit) };
  const container: Container = { name: "c", resources };
  return { pod: { metadata: { uid: "u" }, spec: { containers: [container] } }, container };
}

describe("a container's memory", () => {
  const none = { "memory.min": "0", "memory.low": "0" };
  it.each<[string, string, string, MemoryQos | undefined, Record<string, string>]>([
    ["without the gate", "100Mi", "200Mi", undefined, {}],
    // 100 MiB + 0.9 × 100 MiB
    ["between request and limit", "100Mi", "200Mi", THROTTLING, { ...none, "memory.high": `${190n * MI}` }],
    // 100 MiB + 0.9 × 900 MiB
    ["without a limit", "100Mi", "", THROTTLING, { ...none, "memory.high": `${910n * MI}` }],
    ["in whole pages", "", "10000", THROTTLING, { ...none, "memory.high": "8192" }],
    ["of a guaranteed pod", "100Mi", "100Mi", THROTTLING, none],
    ["of a guaranteed pod, protected", "100Mi", "100Mi", RESERVING, { "memory.min": `${100n * MI}` }],
    ["protected", "100Mi", "200Mi", RESERVING, { "memory.low": `${100n * MI}`, "memory.high": `${190n * MI}` }],
    ["that asks for nothing", "", "200Mi", RESERVING, { ...none, "memory.high": `${180n * MI}` }],
    ["that asks for nothing and has no limit", "", "", RESERVING, none],
    ["that asks for more than the node has", "2000Mi", "", RESERVING, { "memory.low": `${2_000n * MI}` }],
  ])("%s", (_, request, limit, memoryQos, expected) => {
    const { pod, container } = podOf(request, limit);
    expect(computeContainerMemoryQos(pod, container, memoryQos)).toEqual(expected);
  });

  it("of a node that does not know what pods may use is throttled only by its limit", () => {
    const unknown = { ...THROTTLING, allocatableBytes: 0n };
    const { pod, container } = podOf("100Mi", "");
    expect(computeContainerMemoryQos(pod, container, unknown)).toEqual(none);
  });
});

describe("a pod's memory", () => {
  it.each<[string, string, MemoryQos | undefined, object]>([
    ["100Mi", "200Mi", RESERVING, { memoryLow: 100n * MI }],
    ["100Mi", "100Mi", RESERVING, { memoryMin: 100n * MI }],
    ["", "", RESERVING, {}],
    ["100Mi", "200Mi", THROTTLING, {}],
    ["100Mi", "200Mi", undefined, {}],
  ])("of %s to %s (%o)", (request, limit, memoryQos, expected) => {
    const { pod } = podOf(request, limit);
    expect(computePodProtection(pod, computePodRequests(pod), memoryQos)).toEqual(expected);
  });
});

describe("the memory of the QoS classes", () => {
  const requests = {
    Guaranteed: { milliCpu: 0n, memoryBytes: 300n * MI },
    Burstable: { milliCpu: 0n, memoryBytes: 200n * MI },
  };

  it("is protected for as much as their pods ask for; the cgroup of the guaranteed ones holds the others", () => {
    expect(computeClassProtection(requests, RESERVING)).toEqual({
      Guaranteed: { memoryMin: 500n * MI },
      Burstable: { memoryLow: 200n * MI },
    });
    const nothing = { Guaranteed: { memoryMin: 0n }, Burstable: { memoryLow: 0n } };
    expect(computeClassProtection(requests, THROTTLING)).toEqual(nothing);
    expect(computeClassProtection(requests, undefined)).toEqual({ Guaranteed: {}, Burstable: {} });
  });

  it.each([
    [undefined, undefined, undefined],
    [{ percent: 0n, allocatableBytes: 1_000n * MI }, 1_000n * MI, 1_000n * MI],
    [{ percent: 50n, allocatableBytes: 1_000n * MI }, 850n * MI, 750n * MI],
    [{ percent: 100n, allocatableBytes: 1_000n * MI }, 700n * MI, 500n * MI],
    [{ percent: 100n, allocatableBytes: 400n * MI }, 100n * MI, 4_096n],
    [{ percent: 100n, allocatableBytes: 0n }, undefined, undefined],
  ])("is kept back as %o says", (keptBack, burstable, bestEffort) => {
    const memory = computeClassMemory(requests, keptBack);
    expect([memory.Burstable.memoryBytes, memory.BestEffort.memoryBytes]).toEqual([burstable, bestEffort]);
  });
});
