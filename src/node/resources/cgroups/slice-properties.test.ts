import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import { listLimitProperties, listSliceProperties, roundQuota } from "./slice-properties.ts";

const INFINITY = 18_446_744_073_709_551_615n;
const V1 = { cgroupVersion: 1, systemdVersion: 252 } as const;
const V2 = { cgroupVersion: 2, systemdVersion: 252 } as const;

const told = (limits: CgroupLimits, facts: typeof V1 | typeof V2) =>
  Object.fromEntries(listLimitProperties(limits, facts).map(({ name, value }) => [name, value]));

describe("the properties of a slice", () => {
  const names = { unit: "kubepods-burstable.slice", parent: "kubepods.slice" };

  it.each([
    [1, "BlockIOAccounting"],
    [2, "IOAccounting"],
  ] as const)("in version %d", (cgroupVersion, ioAccounting) => {
    expect(listSliceProperties(names, { cgroupVersion })).toEqual([
      { name: "Description", signature: "s", value: "libcontainer container kubepods-burstable.slice" },
      { name: "Wants", signature: "as", value: ["kubepods.slice"] },
      { name: "MemoryAccounting", signature: "b", value: true },
      { name: "CPUAccounting", signature: "b", value: true },
      { name: ioAccounting, signature: "b", value: true },
      { name: "TasksAccounting", signature: "b", value: true },
      { name: "DefaultDependencies", signature: "b", value: false },
    ]);
  });

  it.each([
    [{ cpuShares: 2n }, { CPUShares: 2n }, { CPUWeight: 1n }],
    [{ cpuShares: 1_024n }, { CPUShares: 1_024n }, { CPUWeight: 39n }],
    [{ cpuShares: 262_144n }, { CPUShares: 262_144n }, { CPUWeight: 10_000n }],
    [{ memoryBytes: 67_108_864n }, { MemoryLimit: 67_108_864n }, { MemoryMax: 67_108_864n }],
    [{ memoryBytes: 0n, cpuShares: 0n }, {}, {}],
    [{ memoryMin: 0n, memoryLow: 4_096n }, {}, { MemoryMin: 0n, MemoryLow: 4_096n }],
    [{ maxTasks: 300n }, { TasksMax: 300n }, { TasksMax: 300n }],
    [{ maxTasks: 0n }, { TasksMax: 1n }, { TasksMax: 1n }],
    [{ maxTasks: -1n }, { TasksMax: INFINITY }, { TasksMax: INFINITY }],
    [{ hugepages: new Map([["2MB", 0n]]) }, {}, {}],
  ] as const)("of the limits %o", (limits, v1, v2) => {
    expect(told(limits, V1)).toEqual(v1);
    expect(told(limits, V2)).toEqual(v2);
  });

  it.each([
    [50_000n, 100_000n, 500_000n, 50_000n],
    [150_000n, 100_000n, 1_500_000n, 150_000n],
    [1_000n, 100_000n, 10_000n, 1_000n],
    [1_500n, 100_000n, 20_000n, 2_000n],
    [12_345n, 100_000n, 130_000n, 13_000n],
    [3_333n, 10_000n, 340_000n, 3_400n],
    [-1n, 100_000n, INFINITY, -1n],
    [undefined, 100_000n, INFINITY, undefined],
  ])("of the quota %s in %s is %s in a second, which is %s", (quota, period, perSecond, rounded) => {
    const limits = { cpuQuotaMicroseconds: quota, cpuPeriodMicroseconds: period };
    expect(told(limits, V2)).toEqual({ CPUQuotaPeriodUSec: period, CPUQuotaPerSecUSec: perSecond });
    expect(told(limits, V1)).toEqual(told(limits, V2));
    expect(roundQuota(limits).cpuQuotaMicroseconds).toBe(rounded);
  });

  it("of a quota without a period are those of the kernel's own", () => {
    expect(told({ cpuQuotaMicroseconds: 25_000n }, V2)).toEqual({ CPUQuotaPerSecUSec: 250_000n });
  });

  it("have no period where systemd is too old to take one", () => {
    const limits = { cpuQuotaMicroseconds: 10_000n, cpuPeriodMicroseconds: 20_000n };
    expect(listLimitProperties(limits, { cgroupVersion: 1, systemdVersion: 241 })).toEqual([
      { name: "CPUQuotaPerSecUSec", signature: "t", value: 500_000n },
    ]);
  });

  it("never give less than was asked for, nor a per cent more", () => {
    const quotas = fc.bigInt({ min: 1_000n, max: 10_000_000n });
    const periods = fc.bigInt({ min: 1_000n, max: 1_000_000n });
    fc.assert(
      fc.property(quotas, periods, (quota, period) => {
        const properties = told({ cpuQuotaMicroseconds: quota, cpuPeriodMicroseconds: period }, V2);
        const perSecond = BigInt(String(properties["CPUQuotaPerSecUSec"]));
        const exact = (quota * 1_000_000n) / period;
        expect(perSecond % 10_000n).toBe(0n);
        expect(perSecond - exact).toBeGreaterThanOrEqual(0n);
        expect(perSecond - exact).toBeLessThan(10_000n);
      }),
    );
  });
});
