import { describe, expect, it } from "vitest";
import { composeConfiguration } from "../../../config/compose-configuration.ts";
import { resolveFeatureGates } from "../../../config/feature-gates.ts";
import { readMemorySettings, warnOfMemorySettings } from "./memory-settings.ts";

const HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
const V1 = {
  cgroupVersion: 1,
  hasMemoryController: true,
  kernelRelease: "6.1.0",
  allocatable: { memory: "1Ki" },
} as const;
const V2 = { ...V1, cgroupVersion: 2 } as const;

function configure(yaml: string, gates: Record<string, boolean>) {
  const file = { path: "/k.yaml", text: `${HEAD}${yaml}` };
  const { configuration } = composeConfiguration({ file, dropIns: [], flags: new Map() });
  return { kubelet: configuration, featureGates: resolveFeatureGates(gates).gates };
}

type Settings = Parameters<typeof warnOfMemorySettings>;

function warningsOf(config: Settings[1], machine: Settings[2]): string[] {
  const warnings: string[] = [];
  warnOfMemorySettings({ warn: (message) => void warnings.push(message) }, config, machine);
  return warnings;
}

describe("the settings of memory", () => {
  it("protect what pods ask for and throttle them, with version 2 of cgroups and the gate", () => {
    const config = configure("memoryReservationPolicy: TieredReservation\nmemoryThrottlingFactor: 0.5", {
      MemoryQoS: true,
    });
    expect(readMemorySettings(config, V2).memoryQos).toEqual({
      isReserving: true,
      throttlingFactor: 0.5,
      allocatableBytes: 1_024n,
    });
    expect(readMemorySettings(config, V1).memoryQos).toBeUndefined();
    expect(readMemorySettings(configure("", {}), V2).memoryQos).toBeUndefined();
    expect(readMemorySettings(config, { ...V2, hasMemoryController: false }).memoryQos).toBeUndefined();
    expect(readMemorySettings(configure("", { MemoryQoS: true }), V2).memoryQos).toMatchObject({
      isReserving: false,
      throttlingFactor: 0.9,
    });
  });

  it("keep back what qosReserved says, with the gate alone", () => {
    const config = configure("qosReserved: {memory: 50%}", { QOSReserved: true });
    expect(readMemorySettings(config, V1).memoryKeptBack).toEqual({ percent: 50n, allocatableBytes: 1_024n });
    expect(readMemorySettings(config, { ...V1, hasMemoryController: false }).memoryKeptBack).toBeUndefined();
    expect(readMemorySettings(configure("qosReserved: {memory: 50%}", {}), V1).memoryKeptBack).toBeUndefined();
    expect(readMemorySettings(configure("", { QOSReserved: true }), V1).memoryKeptBack).toBeUndefined();
  });

  it.each([
    ["", { MemoryQoS: true }, V1, /only works with cgroups v2/],
    ["", { MemoryQoS: true }, { ...V2, kernelRelease: "5.8.18-generic" }, /livelock on older kernels: this is 5.8.18/],
    ["", {}, { ...V2, hasMemoryController: false }, /cgroup_enable=memory cgroup_memory=1/],
    ["qosReserved: {memory: 50%}", {}, V2, /no effect without the feature gate QOSReserved/],
  ])("with %j and %j are warned of", (yaml, gates, machine, expected) => {
    expect(warningsOf(configure(yaml, gates), machine)).toEqual([expect.stringMatching(expected)]);
  });

  it("that have their effect are not warned of", () => {
    const config = configure("qosReserved: {memory: 50%}", { MemoryQoS: true, QOSReserved: true });
    expect(warningsOf(config, { ...V2, kernelRelease: "5.10.0" })).toEqual([]);
    expect(warningsOf(configure("", {}), V1)).toEqual([]);
  });
});
