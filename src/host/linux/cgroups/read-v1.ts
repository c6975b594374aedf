import type {
  CgroupCpu,
  CgroupDetails,
  CgroupMemory,
  CgroupThrottling,
  CgroupUsage,
  DiskTraffic,
} from "../../cgroups-port.ts";
import { parseFlatKeyed, parseNumber, readKernelFile } from "./kernel-files.ts";
import { parseBlkio } from "./read-disks.ts";

/**
 * A limit above this means no limit: the kernel rounds the largest number to pages (cadvisor: metrics/prometheus.go).
 */
const UNLIMITED = 2 ** 62;
/** `cpuacct.stat` counts in hundredths of a second, whatever the kernel's own clock. */
const TICK_NANOSECONDS = 10_000_000;

/** Reads a cgroup of version 1. Undefined when neither processors nor memory are counted there. */
export function readCgroupV1(
  root: string,
  path: string,
  { details, devices }: { readonly details: boolean; readonly devices: string },
): CgroupUsage | undefined {
  const read = (controller: string, file: string) => readKernelFile(`${root}/${controller}${path}/${file}`);
  const cpu = readCpu(read);
  const memory = readMemory(read);
  if (cpu === undefined && memory === undefined) return undefined;
  const processes = read(cpu === undefined ? "memory" : "cpuacct", "cgroup.procs");
  return {
    cpu,
    memory,
    pids: parsePids(processes),
    pressure: {},
    details: details ? readDetails(read, devices) : undefined,
  };
}

type Read = (controller: string, file: string) => string | undefined;

function readCpu(read: Read): CgroupCpu | undefined {
  const usageNanoseconds = parseNumber(read("cpuacct", "cpuacct.usage"));
  if (usageNanoseconds === undefined) return undefined;
  const stat = parseFlatKeyed(read("cpuacct", "cpuacct.stat"));
  return {
    usageNanoseconds,
    userNanoseconds: (stat.get("user") ?? 0) * TICK_NANOSECONDS,
    systemNanoseconds: (stat.get("system") ?? 0) * TICK_NANOSECONDS,
  };
}

function readMemory(read: Read): CgroupMemory | undefined {
  const usage = parseNumber(read("memory", "memory.usage_in_bytes"));
  if (usage === undefined) return undefined;
  const stat = parseFlatKeyed(read("memory", "memory.stat"));
  // The total includes the cgroups below, where the kernel counts those apart.
  const amountOf = (name: string) => stat.get(`total_${name}`) ?? stat.get(name) ?? 0;
  const inactiveFile = amountOf("inactive_file");
  return {
    usage,
    workingSet: Math.max(0, usage - inactiveFile),
    rss: amountOf("rss"),
    cache: amountOf("cache"),
    mappedFile: amountOf("mapped_file"),
    activeFile: amountOf("active_file"),
    inactiveFile,
    swap: amountOf("swap"),
    pageFaults: amountOf("pgfault"),
    majorPageFaults: amountOf("pgmajfault"),
    limit: limited(read("memory", "memory.limit_in_bytes")),
    swapLimit: limited(read("memory", "memory.memsw.limit_in_bytes")),
  };
}

function readDetails(read: Read, devices: string): CgroupDetails {
  const quota = parseNumber(read("cpu", "cpu.cfs_quota_us"));
  return {
    cpuShares: parseNumber(read("cpu", "cpu.shares")),
    cpuPeriodMicroseconds: parseNumber(read("cpu", "cpu.cfs_period_us")),
    cpuQuotaMicroseconds: quota !== undefined && quota > 0 ? quota : undefined,
    throttling: parseThrottling(read("cpu", "cpu.stat")),
    maxMemoryUsage: parseNumber(read("memory", "memory.max_usage_in_bytes")),
    memoryFailures: parseNumber(read("memory", "memory.failcnt")),
    kernelMemory: parseNumber(read("memory", "memory.kmem.usage_in_bytes")),
    memoryReservation: limited(read("memory", "memory.soft_limit_in_bytes")),
    oomKills: parseFlatKeyed(read("memory", "memory.oom_control")).get("oom_kill"),
    tasks: parseNumber(read("pids", "pids.current")),
    maxTasks: parseNumber(read("pids", "pids.max")),
    disks: readDisks(read, devices),
  };
}

function readDisks(read: Read, devices: string): DiskTraffic[] {
  const file = (kind: string) =>
    read("blkio", `blkio.throttle.${kind}_recursive`) ?? read("blkio", `blkio.throttle.${kind}`);
  return parseBlkio({ bytes: file("io_service_bytes"), operations: file("io_serviced") }, devices);
}

function parseThrottling(text: string | undefined): CgroupThrottling | undefined {
  if (text === undefined) return undefined;
  const stat = parseFlatKeyed(text);
  return {
    periods: stat.get("nr_periods") ?? 0,
    throttledPeriods: stat.get("nr_throttled") ?? 0,
    throttledNanoseconds: stat.get("throttled_time") ?? 0,
    burstPeriods: stat.get("nr_bursts") ?? 0,
    burstNanoseconds: stat.get("burst_time") ?? 0,
  };
}

function limited(text: string | undefined): number | undefined {
  const limit = parseNumber(text);
  return limit === undefined || limit > UNLIMITED ? undefined : limit;
}

/** Processes of other process namespaces are shown as 0, and are left out. */
export function parsePids(text: string | undefined): number[] {
  return (text ?? "")
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 0);
}
