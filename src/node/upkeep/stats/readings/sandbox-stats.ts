import { SECOND } from "../../../../base/clock.ts";
import type { Log } from "../../../../base/log.ts";
import type { NetworkInterfaceUsage, PodSandboxStats } from "../../../../cri/gen/cri-v1.ts";
import { isCriError, type RuntimeService } from "../../../../cri/port.ts";
import type { InterfaceCounters } from "../../../../host/proc-port.ts";
import { describeUsage, type RuntimeUsage } from "./runtime-usage.ts";
import type { MeasuredCgroup, ToldPod } from "./usage-snapshot.ts";

/** What the runtime tells of a pod: the whole of it, and its containers by their IDs. */
export interface SandboxUsage extends ToldPod {
  readonly containers: ReadonlyMap<string, ToldContainer>;
}

/** What the runtime tells of a container, and when it was so, in milliseconds since the epoch. */
interface ToldContainer extends RuntimeUsage {
  readonly at: number;
}

/** The statistics of pods that the runtime keeps. */
export interface SandboxStats {
  /**
   * By the IDs of their sandboxes. Undefined where the runtime does not keep any, so that the kernel has to be asked.
   * Rejects where the runtime does not answer.
   */
  read(signal: AbortSignal): Promise<ReadonlyMap<string, SandboxUsage> | undefined>;
}

const TIMEOUT_MS = 5 * SECOND;
const NANOSECONDS_PER_MS = 1_000_000n;

/** Asks the runtime (pkg/kubelet/stats/cri_stats_provider.go, `listPodStatsStrictlyFromCRI`). */
export function createSandboxStats({
  runtime,
  log,
}: {
  readonly runtime: Pick<RuntimeService, "listPodSandboxStats">;
  readonly log: Log;
}): SandboxStats {
  let isTold = false;
  return {
    async read(signal) {
      try {
        const { stats } = await runtime.listPodSandboxStats({ filter: undefined }, { signal, timeoutMs: TIMEOUT_MS });
        return new Map(stats.flatMap((stat) => describeSandbox(stat)));
      } catch (error) {
        if (!isCriError(error, "unimplemented")) throw error;
        if (!isTold) {
          log.warn(
            "The runtime does not support ListPodSandboxStats, which the feature gate PodAndContainerStatsFromCRI needs: " +
              "statistics come from the kernel's cgroups, as without the gate",
          );
        }
        isTold = true;
        return undefined;
      }
    },
  };
}

function describeSandbox({ attributes, linux }: PodSandboxStats): Array<readonly [string, SandboxUsage]> {
  if (attributes === undefined || linux === undefined) return [];
  const { network, process, containers } = linux;
  const usage: SandboxUsage = {
    total: measuredOf(linux),
    network: network && { at: timeOf(network.timestamp), interfaces: network.interfaces.map(countersOf) },
    processCount: process?.processCount && Number(process.processCount.value),
    containers: new Map(
      containers.flatMap((stat) => {
        const told = measuredOf(stat);
        return told === undefined ? [] : [[stat.attributes?.id ?? "", told] as const];
      }),
    ),
  };
  return [[attributes.id, usage]];
}

function measuredOf(stat: Parameters<typeof describeUsage>[0]): (MeasuredCgroup & ToldContainer) | undefined {
  const usage = describeUsage(stat);
  const { cpu, memory } = stat;
  return usage && { ...usage, at: timeOf(cpu?.timestamp || memory?.timestamp || 0n) };
}

/** The interface tells no more than this; packets are not counted. */
function countersOf({ name, rxBytes, rxErrors, txBytes, txErrors }: NetworkInterfaceUsage): InterfaceCounters {
  const count = (bytes: NetworkInterfaceUsage["rxBytes"], errors: NetworkInterfaceUsage["rxErrors"]) => ({
    bytes: Number(bytes?.value ?? 0n),
    errors: Number(errors?.value ?? 0n),
    packets: 0,
    dropped: 0,
  });
  return { name, received: count(rxBytes, rxErrors), sent: count(txBytes, txErrors) };
}

function timeOf(nanoseconds: bigint): number {
  return Number(nanoseconds / NANOSECONDS_PER_MS);
}
