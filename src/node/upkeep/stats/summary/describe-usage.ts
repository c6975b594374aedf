import { formatTime } from "../../../../base/clock.ts";
import type { CgroupMemory, CgroupPressure, Pressure } from "../../../../host/cgroups-port.ts";
import type { InterfaceCounters } from "../../../../host/proc-port.ts";
import type { MeasuredCgroup } from "../readings/usage-snapshot.ts";
import type { CpuStats, InterfaceStats, IoStats, MemoryStats, NetworkStats, PsiStats, SwapStats } from "./summary.ts";

/** The interface that upstream takes for the interface of a pod. */
const DEFAULT_INTERFACE = "eth0";
/**
 * Prefixes of the machine's interfaces that lead nowhere out of it. cadvisor leaves them out
 * (container/libcontainer/handler.go).
 */
const IGNORED_INTERFACES = ["lo", "veth", "docker", "nerdctl"];

/**
 * Describes processor use. The result is undefined where nothing is counted. `pressure` replaces the cgroup's own
 * pressure.
 */
export function describeCpu(
  { at, usage, cpuRate }: MeasuredCgroup,
  pressure: CgroupPressure = usage.pressure,
): CpuStats | undefined {
  if (usage.cpu === undefined && cpuRate === undefined) return undefined;
  return {
    time: formatTime(at),
    ...(cpuRate !== undefined && { usageNanoCores: cpuRate }),
    ...(usage.cpu && { usageCoreNanoSeconds: usage.cpu.usageNanoseconds }),
    ...(pressure.cpu && { psi: describePressure(pressure.cpu) }),
  };
}

/**
 * Describes memory use. `limit` replaces the cgroup's own limit: the root cgroup has none, so the machine's memory is
 * used as its limit.
 */
export function describeMemoryUsage(
  at: number,
  memory: CgroupMemory | undefined,
  { limit = memory?.limit, pressure }: { readonly limit?: number | undefined; readonly pressure: CgroupPressure },
): MemoryStats | undefined {
  if (memory === undefined) return undefined;
  return {
    time: formatTime(at),
    ...(limit !== undefined && { availableBytes: Math.max(0, limit - memory.workingSet) }),
    usageBytes: memory.usage,
    workingSetBytes: memory.workingSet,
    rssBytes: memory.rss,
    pageFaults: memory.pageFaults,
    majorPageFaults: memory.majorPageFaults,
    ...(pressure.memory && { psi: describePressure(pressure.memory) }),
  };
}

/** Describes swap use. `limit` replaces the cgroup's own limit of swap. */
export function describeSwap(
  at: number,
  memory: CgroupMemory | undefined,
  limit = memory?.swapLimit,
): SwapStats | undefined {
  if (memory === undefined) return undefined;
  const available = limit === undefined ? undefined : Math.max(0, limit - memory.swap);
  return {
    time: formatTime(at),
    ...(available !== undefined && { swapAvailableBytes: available }),
    swapUsageBytes: memory.swap,
  };
}

/** Describes the pressure on disks. The result is undefined where the kernel does not tell. */
export function describeIo(at: number, { io }: CgroupPressure): IoStats | undefined {
  return io && { time: formatTime(at), psi: describePressure(io) };
}

/** Describes the network traffic of a pod or of the machine. */
export function describeNetwork(at: number, counters: readonly InterfaceCounters[]): NetworkStats {
  const interfaces = visibleInterfaces(counters).map(
    ({ name, received, sent }): InterfaceStats => ({
      name,
      rxBytes: received.bytes,
      rxErrors: received.errors,
      txBytes: sent.bytes,
      txErrors: sent.errors,
    }),
  );
  const main = interfaces.find(({ name }) => name === DEFAULT_INTERFACE);
  return { time: formatTime(at), ...(main ?? { name: "" }), ...(interfaces.length > 0 && { interfaces }) };
}

/** Returns the interfaces that carry traffic into and out of the pod or the machine. */
export function visibleInterfaces(counters: readonly InterfaceCounters[]): InterfaceCounters[] {
  return counters.filter(({ name }) => !IGNORED_INTERFACES.some((prefix) => name.toLowerCase().startsWith(prefix)));
}

function describePressure({ full, some }: Pressure): PsiStats {
  return { full: describeShare(full), some: describeShare(some) };
}

function describeShare({ totalMicroseconds, avg10, avg60, avg300 }: Pressure["full"]): PsiStats["full"] {
  return { total: totalMicroseconds, avg10, avg60, avg300 };
}
