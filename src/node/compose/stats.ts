import type { Part } from "../../base/run-parts.ts";
import type { NodeView, StatisticsPage } from "../server/handlers.ts";
import { createRuntimeSeries, type RuntimeSeries } from "../upkeep/stats/metrics/runtime-series.ts";
import { createNodeStats, type NodeStats } from "../upkeep/stats/node-stats.ts";
import { createContainerReadings } from "../upkeep/stats/readings/container-readings.ts";
import { createStorageUsageReader } from "../upkeep/stats/readings/read-storage.ts";
import { createUsageReader } from "../upkeep/stats/readings/read-usage.ts";
import { createSandboxStats } from "../upkeep/stats/readings/sandbox-stats.ts";
import { createStatsEndpoints } from "../upkeep/stats/stats-endpoints.ts";
import type { Foundation } from "./foundation.ts";
import type { ProbeParts } from "./probes.ts";
import type { ReadingParts } from "./readings.ts";
import type { RuntimeParts } from "./runtime.ts";

/** What is told of the node's and the pods' use of resources. */
export interface StatsParts {
  /** For the evictions, which decide by it. */
  readonly stats: NodeStats;
  readonly pages: NodeView["statistics"];
  readonly part: Part;
}

interface StatsNeighbours {
  readonly readings: ReadingParts;
  readonly runtime: RuntimeParts;
  readonly probes: ProbeParts;
}

/** Builds the statistics; none of them works while nobody asks. */
export function composeStats(foundation: Foundation, neighbours: StatsNeighbours): StatsParts {
  const { ports, config } = foundation;
  const { readings, probes } = neighbours;
  const { host, log } = ports;
  const { clock, machine, mounts, proc } = host;
  const { nodeName, rootDirectory } = config;
  const usage = composeUsageReader(foundation, neighbours);
  const storage = composeStorageReader(foundation, neighbours);
  const stats = createNodeStats({ clock, machine, proc, usage, storage }, { nodeName, rootDirectory });
  const containers = createContainerReadings({ clock, machine, mounts, proc, stats, cache: readings.cache });
  return {
    stats,
    pages: {
      ...createStatsEndpoints({ stats, containers, runtimeSeries: composeRuntimeSeries(foundation), log }),
      "/metrics/probes": composeProbePage(probes),
    },
    part: { name: "statistics", run: stats.run },
  };
}

function composeUsageReader({ ports, config }: Foundation, { readings, runtime }: StatsNeighbours) {
  const { host, cri, log } = ports;
  const { clock, cgroups, proc } = host;
  const { kubelet } = config;
  return createUsageReader(
    {
      clock,
      log,
      cgroups,
      proc,
      runtime: cri.runtime,
      sandboxStats: isFromRuntime(config) ? createSandboxStats({ runtime: cri.runtime, log }) : undefined,
      runtimePods: readings.pleg.pods,
      cgroupOfAllPods: runtime.cgroups.pathOfAllPods,
    },
    {
      kubeletCgroup: kubelet.kubeletCgroups,
      systemCgroup: kubelet.systemCgroups,
      runtimeCgroup: config.runtimeCgroup,
    },
  );
}

function composeRuntimeSeries({ ports, config }: Foundation): RuntimeSeries | undefined {
  const { cri, log } = ports;
  return isFromRuntime(config) ? createRuntimeSeries({ runtime: cri.runtime, log }) : undefined;
}

/** Whether the runtime is asked in place of the kernel for what pods and containers use. */
function isFromRuntime({ featureGates }: Foundation["config"]): boolean {
  return featureGates["PodAndContainerStatsFromCRI"] === true;
}

function composeStorageReader({ ports, config, guards }: Foundation, { runtime }: StatsNeighbours) {
  const { host, cri, log } = ports;
  const { clock, files, machine } = host;
  const { kubelet, rootDirectory, podLogsDirectory } = config;
  const { volumes, reports } = runtime.volumes.statistics;
  return createStorageUsageReader(
    {
      clock,
      log,
      files,
      machine,
      guard: guards.forMeasurement(),
      runtime: cri.runtime,
      images: cri.images,
      volumes,
      volumeReports: reports,
    },
    { rootDirectory, podLogsDirectory, volumePeriodMs: kubelet.volumeStatsAggPeriod },
  );
}

function composeProbePage({ metrics }: ProbeParts): StatisticsPage {
  return async () => ({ status: 200, headers: { "content-type": metrics.contentType }, body: await metrics.render() });
}
