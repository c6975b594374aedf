import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import { computeCpuWeight } from "../../../host/cpu-weight.ts";
import type { UnitProperty } from "../../../host/systemd-port.ts";

/** The facts that decide how a limit is passed to systemd. */
export interface SliceFacts {
  readonly cgroupVersion: 1 | 2;
  /** The version of systemd. */
  readonly systemdVersion: number;
}

const INFINITY = 2n ** 64n - 1n;
const DEFAULT_PERIOD_MICROSECONDS = 100_000n;
const SECOND_MICROSECONDS = 1_000_000n;
/** systemd counts quotas in whole per cent of a CPU. */
const PER_CENT_MICROSECONDS = 10_000n;
/** The first version of systemd that takes a period. */
const PERIOD_VERSION = 242;

/**
 * Lists the properties of a new slice, besides its limits. They are those of libcontainer's systemd drivers, so that it
 * does not matter which of the two made the slice.
 */
export function listSliceProperties(
  { unit, parent }: { readonly unit: string; readonly parent: string },
  { cgroupVersion }: Pick<SliceFacts, "cgroupVersion">,
): UnitProperty[] {
  const ioAccounting = cgroupVersion === 1 ? "BlockIOAccounting" : "IOAccounting";
  const accounting = ["MemoryAccounting", "CPUAccounting", ioAccounting, "TasksAccounting"];
  return [
    { name: "Description", signature: "s", value: `libcontainer container ${unit}` },
    { name: "Wants", signature: "as", value: [parent] },
    ...accounting.map((name) => ({ name, signature: "b", value: true }) as const),
    { name: "DefaultDependencies", signature: "b", value: false },
  ];
}

/** Lists the limits that systemd keeps. The others, such as huge pages, are only in the kernel's files. */
export function listLimitProperties(limits: CgroupLimits, facts: SliceFacts): UnitProperty[] {
  const { cpuShares = 0n, memoryBytes = 0n, maxTasks } = limits;
  const isV1 = facts.cgroupVersion === 1;
  const properties: UnitProperty[] = [];
  const add = (name: string, value: bigint) => properties.push({ name, signature: "t", value });
  if (memoryBytes !== 0n) add(isV1 ? "MemoryLimit" : "MemoryMax", memoryBytes);
  if (!isV1 && limits.memoryMin !== undefined) add("MemoryMin", limits.memoryMin);
  if (!isV1 && limits.memoryLow !== undefined) add("MemoryLow", limits.memoryLow);
  if (cpuShares !== 0n) add(isV1 ? "CPUShares" : "CPUWeight", isV1 ? cpuShares : computeCpuWeight(cpuShares));
  const { cpuPeriodMicroseconds: period = 0n, cpuQuotaMicroseconds: quota = 0n } = limits;
  if (period !== 0n && facts.systemdVersion >= PERIOD_VERSION) add("CPUQuotaPeriodUSec", period);
  if (quota !== 0n || period !== 0n) add("CPUQuotaPerSecUSec", computeQuotaPerSecond(limits));
  if (maxTasks !== undefined) add("TasksMax", computeTasksMax(maxTasks));
  return properties;
}

/** Returns the same limits with the quota that systemd sets, for files that must match systemd's value. */
export function roundQuota(limits: CgroupLimits): CgroupLimits {
  const { cpuQuotaMicroseconds: quota = 0n, cpuPeriodMicroseconds: period } = limits;
  if (quota <= 0n) return limits;
  const perSecond = computeQuotaPerSecond(limits);
  const rounded = (perSecond * (period || DEFAULT_PERIOD_MICROSECONDS)) / SECOND_MICROSECONDS;
  const isWhole = (quota * SECOND_MICROSECONDS) / (period || DEFAULT_PERIOD_MICROSECONDS) === perSecond;
  return isWhole ? limits : { ...limits, cpuQuotaMicroseconds: rounded };
}

function computeQuotaPerSecond({ cpuQuotaMicroseconds: quota = 0n, cpuPeriodMicroseconds: period }: CgroupLimits) {
  if (quota <= 0n) return INFINITY;
  const exact = (quota * SECOND_MICROSECONDS) / (period || DEFAULT_PERIOD_MICROSECONDS);
  return ((exact + PER_CENT_MICROSECONDS - 1n) / PER_CENT_MICROSECONDS) * PER_CENT_MICROSECONDS;
}

function computeTasksMax(maxTasks: bigint): bigint {
  if (maxTasks < 0n) return INFINITY;
  // systemd refuses a limit of 0.
  return maxTasks === 0n ? 1n : maxTasks;
}
