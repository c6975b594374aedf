import { createHangGuard } from "../../base/hang-guard.ts";
import type { Part } from "../../base/run-parts.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { MountEntry } from "../../host/mounts-port.ts";
import type { NodeView, StatisticsPage } from "../server/handlers.ts";
import type { CadvisorInput } from "../upkeep/stats/cadvisor-metrics.ts";
import { createNodeStats, type NodeStats } from "../upkeep/stats/node-stats.ts";
import { createStorageReader } from "../upkeep/stats/read-storage.ts";
import { createUsageReader } from "../upkeep/stats/read-usage.ts";
import { createStatsEndpoints } from "../upkeep/stats/stats-endpoints.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import type { ProbeParts } from "./probes.ts";
import type { RuntimeParts } from "./runtime.ts";

/** What is told of the node's and the pods' use of resources. */
export interface StatsParts {
  /** For whoever decides by it. */
  readonly stats: NodeStats;
  readonly pages: NodeView["statistics"];
  readonly part: Part;
}

interface StatsPartsDeps {
  readonly ports: Pick<NodeAgentPorts, "host" | "cri" | "log">;
  readonly runtime: Pick<RuntimeParts, "pleg" | "cache" | "volumes" | "cgroups">;
  readonly probeMetrics: Omit<ProbeParts, "probes">;
}

/** Of these measurements, so many may hang, each of which costs all of us a place; see `composeVolumes`. */
const HUNG_SHARE = 8;

/** Builds the statistics; nothing of them works while nobody asks. */
export function composeStats(deps: StatsPartsDeps, config: NodeAgentConfig): StatsParts {
  const { host, cri, log } = deps.ports;
  const { pleg, volumes } = deps.runtime;
  const { clock, files, machine, cgroups, proc } = host;
  const { kubelet, nodeName, rootDirectory, podLogsDirectory } = config;
  const usage = createUsageReader(
    {
      clock,
      log,
      cgroups,
      proc,
      runtime: cri.runtime,
      runtimePods: pleg.pods,
      cgroupOfAllPods: deps.runtime.cgroups.pathOfAllPods,
    },
    { kubeletCgroup: kubelet.kubeletCgroups, systemCgroup: kubelet.systemCgroups },
  );
  const maxHung = Math.max(1, Math.floor(machine.fileAccessPlaces() / HUNG_SHARE));
  const storage = createStorageReader(
    {
      clock,
      log,
      files,
      machine,
      guard: createHangGuard({ clock, maxHung }),
      runtime: cri.runtime,
      images: cri.images,
      volumes: volumes.statistics.volumes,
      volumeReports: volumes.statistics.reports,
    },
    { rootDirectory, podLogsDirectory, volumePeriodMs: kubelet.volumeStatsAggPeriod },
  );
  const stats = createNodeStats({ clock, machine, proc, usage, storage }, { nodeName, rootDirectory });
  const readContainers = createContainersReader(deps, stats);
  return {
    stats,
    pages: {
      ...createStatsEndpoints({ stats, readContainers, log }),
      "/metrics/probes": showProbes(deps.probeMetrics),
    },
    part: { name: "statistics", run: stats.run },
  };
}

function showProbes({ renderMetrics, contentType }: StatsPartsDeps["probeMetrics"]): StatisticsPage {
  return async () => ({ status: 200, contentType, body: await renderMetrics() });
}

function createContainersReader({ ports, runtime }: StatsPartsDeps, stats: Pick<NodeStats, "readings">) {
  const { machine, mounts, clock } = ports.host;
  const imageOf = (podUid: string, containerId: string) =>
    runtime.cache.latest(podUid)?.containers.find(({ id }) => id === containerId)?.image ?? "";
  return async (signal: AbortSignal): Promise<CadvisorInput> => {
    const [readings, identity, entries] = await Promise.all([
      stats.readings(signal),
      machine.identity(),
      mounts.list().catch((): MountEntry[] => []),
    ]);
    return {
      readings,
      machine: { ...identity, cpuCores: machine.cpuCount() },
      imageOf,
      deviceOf: (path) => findSource(entries, path),
      now: clock.now(),
    };
  };
}

/** Of the mount that the path is on: the deepest, and of those at one path the last. */
function findSource(entries: readonly MountEntry[], path: string): string {
  const holds = (mount: string) => mount === "/" || path === mount || path.startsWith(`${mount}/`);
  const holding = entries.filter((entry) => holds(entry.path));
  return (
    holding.reduce<MountEntry | undefined>(
      (deepest, entry) => (deepest !== undefined && deepest.path.length > entry.path.length ? deepest : entry),
      undefined,
    )?.source ?? ""
  );
}
