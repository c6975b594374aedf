import { isAbort } from "../../../../base/abort.ts";
import { SECOND } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type {
  ContainerStats,
  CpuUsage,
  IoUsage,
  MemoryUsage,
  PsiStats,
  SwapUsage,
} from "../../../../cri/gen/cri-v1.ts";
import type { RuntimeService } from "../../../../cri/port.ts";
import type { CgroupPressure, CgroupUsage, Pressure } from "../../../../host/cgroups-port.ts";

/** The usage of one container as the runtime reports it. */
export interface RuntimeUsage {
  readonly usage: CgroupUsage;
  /**
   * The rate, where the runtime reports it. containerd 1.7 and later reports it to clients that ask from time to time.
   */
  readonly cpuRate: number | undefined;
}

interface RuntimeUsageDeps {
  readonly runtime: Pick<RuntimeService, "listContainerStats">;
  readonly log: Log;
}

const TIMEOUT_MS = 5 * SECOND;

/**
 * Reads the usage of containers whose cgroups cannot be found, such as containers in virtual machines, by container id.
 * The result is empty when the runtime does not answer; those containers are then left out.
 */
export async function readRuntimeUsage(
  { runtime, log }: RuntimeUsageDeps,
  ids: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RuntimeUsage>> {
  try {
    const { stats } = await runtime.listContainerStats({ filter: undefined }, { signal, timeoutMs: TIMEOUT_MS });
    const found = stats.flatMap((stat) => {
      const id = stat.attributes?.id ?? "";
      const usage = ids.has(id) ? describeUsage(stat) : undefined;
      return usage === undefined ? [] : [[id, usage] as const];
    });
    return new Map(found);
  } catch (error) {
    if (isAbort(error) && signal.aborted) throw error;
    log.debug("The runtime does not tell what its containers use", { error: messageOf(error) });
    return new Map();
  }
}

/** What the runtime reports of a container, or of a pod as a whole. */
type Reported = Pick<ContainerStats, "cpu" | "memory" | "io"> & { readonly swap?: SwapUsage | undefined };

/** The result is undefined for a container or pod about which the runtime reports neither processors nor memory. */
export function describeUsage({ cpu, memory, io, swap }: Reported): RuntimeUsage | undefined {
  if (cpu === undefined && memory === undefined) return undefined;
  const workingSet = numberOf(memory?.workingSetBytes);
  const available = memory?.availableBytes && numberOf(memory.availableBytes);
  return {
    cpuRate: cpu?.usageNanoCores && numberOf(cpu.usageNanoCores),
    usage: {
      cpu: cpu?.usageCoreNanoSeconds && {
        usageNanoseconds: numberOf(cpu.usageCoreNanoSeconds),
        userNanoseconds: 0,
        systemNanoseconds: 0,
      },
      memory: memory && {
        usage: numberOf(memory.usageBytes ?? memory.workingSetBytes),
        workingSet,
        rss: numberOf(memory.rssBytes),
        cache: 0,
        mappedFile: 0,
        activeFile: 0,
        inactiveFile: 0,
        swap: numberOf(swap?.swapUsageBytes),
        pageFaults: numberOf(memory.pageFaults),
        majorPageFaults: numberOf(memory.majorPageFaults),
        // containerd reports 0 when there is no limit.
        limit: available ? available + workingSet : undefined,
        swapLimit: swap?.swapAvailableBytes && numberOf(swap.swapAvailableBytes) + numberOf(swap.swapUsageBytes),
      },
      pids: [],
      pressure: describePressure(cpu, memory, io),
      details: undefined,
    },
  };
}

function describePressure(
  cpu: CpuUsage | undefined,
  memory: MemoryUsage | undefined,
  io: IoUsage | undefined,
): CgroupPressure {
  const told = { cpu: pressureOf(cpu?.psi), memory: pressureOf(memory?.psi), io: pressureOf(io?.psi) };
  return {
    ...(told.cpu && { cpu: told.cpu }),
    ...(told.memory && { memory: told.memory }),
    ...(told.io && { io: told.io }),
  };
}

function pressureOf(psi: PsiStats | undefined): Pressure | undefined {
  if (psi?.Full === undefined || psi.Some === undefined) return undefined;
  const share = ({ Total, Avg10: avg10, Avg60: avg60, Avg300: avg300 }: NonNullable<PsiStats["Full"]>) => ({
    totalMicroseconds: Number(Total),
    avg10,
    avg60,
    avg300,
  });
  return { full: share(psi.Full), some: share(psi.Some) };
}

function numberOf(value: { readonly value: bigint } | undefined): number {
  return Number(value?.value ?? 0n);
}
