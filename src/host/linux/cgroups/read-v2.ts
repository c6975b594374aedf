import type {
  CgroupCpu,
  CgroupDetails,
  CgroupMemory,
  CgroupPressure,
  CgroupThrottling,
  CgroupUsage,
} from "../../cgroups-port.ts";
import { parseFlatKeyed, parseNumber, readKernelFile } from "./kernel-files.ts";
import { readPressure } from "./parse-pressure.ts";
import { parseIoStat } from "./read-disks.ts";
import { parsePids } from "./read-v1.ts";

type Read = (file: string) => string | undefined;
type Values = ReadonlyMap<string, number>;

const MICROSECOND = 1_000;

/**
 * The lines of `/proc/meminfo` that say of the whole machine what these names of `memory.stat` say of a cgroup. Faults have
 * the same names in `/proc/vmstat`.
 */
const MACHINE_MEMORY = {
  anon: "AnonPages",
  file: "Cached",
  file_mapped: "Mapped",
  active_file: "Active\\(file\\)",
  inactive_file: "Inactive\\(file\\)",
};

interface ReadOptions {
  /** Also what only a page of metrics shows. */
  readonly details: boolean;
  /** The path of `/proc`, whose `meminfo` and `vmstat` have the numbers that the root's own files lack. */
  readonly proc: string;
  /** Where block devices are shown by their numbers. */
  readonly devices: string;
}

/** Reads a cgroup of version 2. */
export function readCgroupV2(directory: string, { details, proc, devices }: ReadOptions): CgroupUsage | undefined {
  const read: Read = (file) => readKernelFile(`${directory}/${file}`);
  const processes = read("cgroup.procs");
  if (processes === undefined) return undefined;
  const cpuStat = parseFlatKeyed(read("cpu.stat"));
  return {
    cpu: computeCpu(cpuStat),
    memory: readMemory(read, proc),
    pids: parsePids(processes),
    pressure: readPressureV2(directory),
    details: details ? readDetails(read, cpuStat, devices) : undefined,
  };
}

/** Reads how long the tasks of a cgroup of version 2 have waited. Empty for a kernel that was started without PSI. */
export function readPressureV2(directory: string): CgroupPressure {
  return readPressure((resource) => readKernelFile(`${directory}/${resource}.pressure`));
}

function computeCpu(stat: Values): CgroupCpu | undefined {
  const usage = stat.get("usage_usec");
  if (usage === undefined) return undefined;
  return {
    usageNanoseconds: usage * MICROSECOND,
    userNanoseconds: (stat.get("user_usec") ?? 0) * MICROSECOND,
    systemNanoseconds: (stat.get("system_usec") ?? 0) * MICROSECOND,
  };
}

function readMemory(read: Read, proc: string): CgroupMemory | undefined {
  const stat = readMemoryStat(read, proc);
  if (stat === undefined) return undefined;
  const { usage, swap } = readAmounts(read, proc);
  const inactiveFile = stat.get("inactive_file") ?? 0;
  return {
    usage,
    workingSet: Math.max(0, usage - inactiveFile),
    rss: stat.get("anon") ?? 0,
    cache: stat.get("file") ?? 0,
    mappedFile: stat.get("file_mapped") ?? 0,
    activeFile: stat.get("active_file") ?? 0,
    inactiveFile,
    swap,
    pageFaults: stat.get("pgfault") ?? 0,
    majorPageFaults: stat.get("pgmajfault") ?? 0,
    limit: parseNumber(read("memory.max")),
    swapLimit: parseNumber(read("memory.swap.max")),
  };
}

/**
 * Undefined where the kernel does not count the cgroup's memory. Without the controller it still counts that of the whole
 * machine, which the root is; only the root has no type.
 */
function readMemoryStat(read: Read, proc: string): Values | undefined {
  const text = read("memory.stat");
  if (text !== undefined) return parseFlatKeyed(text);
  if (read("cgroup.type") !== undefined) return undefined;
  const machine = readKernelFile(`${proc}/meminfo`);
  if (machine === undefined) return undefined;
  const amounts = Object.entries(MACHINE_MEMORY).map(([name, line]) => [name, bytesOf(machine, line)] as const);
  return new Map([...parseFlatKeyed(readKernelFile(`${proc}/vmstat`)), ...amounts]);
}

/**
 * The root has no `memory.current`: memory that is not free counts as used, as in runc (libcontainer: fs2/memory.go).
 */
function readAmounts(read: Read, proc: string): { usage: number; swap: number } {
  const usage = parseNumber(read("memory.current"));
  if (usage !== undefined) return { usage, swap: parseNumber(read("memory.swap.current")) ?? 0 };
  const text = readKernelFile(`${proc}/meminfo`) ?? "";
  const left = (total: string, free: string) => bytesOf(text, total) - bytesOf(text, free);
  return { usage: left("MemTotal", "MemFree"), swap: left("SwapTotal", "SwapFree") };
}

function bytesOf(memoryInfo: string, line: string): number {
  return Number(new RegExp(`^${line}:\\s*(\\d+) kB$`, "m").exec(memoryInfo)?.[1] ?? 0) * 1024;
}

function readDetails(read: Read, cpuStat: Values, devices: string): CgroupDetails {
  const [quota, period] = (read("cpu.max") ?? "").trim().split(" ");
  return {
    cpuShares: sharesOf(parseNumber(read("cpu.weight"))),
    cpuPeriodMicroseconds: parseNumber(period),
    cpuQuotaMicroseconds: parseNumber(quota),
    throttling: computeThrottling(cpuStat),
    maxMemoryUsage: parseNumber(read("memory.peak")),
    // Version 2 counts this as an event, which upstream does not show.
    memoryFailures: undefined,
    kernelMemory: parseFlatKeyed(read("memory.stat")).get("kernel"),
    memoryReservation: parseNumber(read("memory.low")),
    oomKills: parseFlatKeyed(read("memory.events")).get("oom_kill"),
    tasks: parseNumber(read("pids.current")),
    maxTasks: parseNumber(read("pids.max")),
    disks: parseIoStat(read("io.stat"), devices),
  };
}

/** The kernel counts nothing in a cgroup that cannot have a quota. */
function computeThrottling(stat: Values): CgroupThrottling | undefined {
  const periods = stat.get("nr_periods");
  if (periods === undefined) return undefined;
  return {
    periods,
    throttledPeriods: stat.get("nr_throttled") ?? 0,
    throttledNanoseconds: (stat.get("throttled_usec") ?? 0) * MICROSECOND,
    burstPeriods: stat.get("nr_bursts") ?? 0,
    burstNanoseconds: (stat.get("burst_usec") ?? 0) * MICROSECOND,
  };
}

/**
 * Converts 1…10,000 to 2…262,144, the inverse of what runtimes did with the shares (cadvisor:
 * container/common/helpers.go).
 */
function sharesOf(weight: number | undefined): number | undefined {
  return weight && 2 + Math.trunc(((weight - 1) * 262_142) / 9_999);
}
