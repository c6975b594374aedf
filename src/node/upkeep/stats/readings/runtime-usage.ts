import { isAbort } from "../../../../base/abort.ts";
import { SECOND } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type { ContainerStats } from "../../../../cri/gen/cri-v1.ts";
import type { RuntimeService } from "../../../../cri/port.ts";
import type { CgroupUsage } from "../../../../host/cgroups-port.ts";

/** What the runtime says that a container uses. */
export interface RuntimeUsage {
  readonly usage: CgroupUsage;
  /** Where the runtime tells; containerd does from 1.7 on, for who asks it from time to time. */
  readonly cpuRate: number | undefined;
}

interface RuntimeUsageDeps {
  readonly runtime: Pick<RuntimeService, "listContainerStats">;
  readonly log: Log;
}

const TIMEOUT_MS = 5 * SECOND;

/**
 * Of containers whose cgroups cannot be found, as those in virtual machines, by their ids. Empty where the runtime does not
 * answer: then they are left out.
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

/** Undefined for a container that it says nothing of. */
function describeUsage({ cpu, memory, swap }: ContainerStats): RuntimeUsage | undefined {
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
        // containerd says 0 where there is no limit.
        limit: available ? available + workingSet : undefined,
        swapLimit: undefined,
      },
      pids: [],
      pressure: {},
      details: undefined,
    },
  };
}

function numberOf(value: { readonly value: bigint } | undefined): number {
  return Number(value?.value ?? 0n);
}
