import type { SyncLoop } from "../pods/loop/sync-loop.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import type { NodeView } from "../server/handlers.ts";
import { createNodeMetrics } from "../view/node-metrics.ts";
import { createNodeView } from "../view/node-view.ts";
import type { Foundation } from "./foundation.ts";
import type { HistoryParts } from "./history.ts";
import type { ReadingParts } from "./readings.ts";
import type { RuntimeParts } from "./runtime.ts";
import type { SourceParts } from "./sources.ts";
import type { StatsParts } from "./stats.ts";

interface ViewNeighbours {
  readonly sources: SourceParts;
  readonly readings: ReadingParts;
  readonly runtime: RuntimeParts;
  readonly workers: PodWorkers;
  readonly stats: StatsParts;
  readonly loop: SyncLoop;
  readonly history: HistoryParts;
}

/** The node as its HTTP servers show it. */
export function composeView(foundation: Foundation, neighbours: ViewNeighbours): NodeView {
  const { ports, config, timeline, statuses, shutdown, pressure } = foundation;
  const { sources, readings, workers, stats, loop } = neighbours;
  return createNodeView({
    nodeName: config.nodeName,
    clock: ports.host.clock,
    renderMetrics: composeMetrics(foundation, neighbours),
    statistics: stats.pages,
    timeline,
    history: neighbours.history.history,
    desired: sources.desired,
    manifestProblems: sources.manifestProblems,
    statuses,
    workers,
    health: readings.health,
    errors: () => [...readings.errors(), ...shutdown.errors()],
    pressure: pressure.pressure,
    loop,
    pleg: readings.pleg,
  });
}

function composeMetrics(
  { ports, config, facts, inbox, statuses }: Foundation,
  { sources, readings, runtime, workers }: ViewNeighbours,
): NodeView["metrics"] {
  const { desired } = sources;
  return createNodeMetrics({
    nodeName: config.nodeName,
    cgroupVersion: facts.cgroupVersion,
    statsProvider: config.featureGates["PodAndContainerStatsFromCRI"] ? "cri" : "cadvisor",
    clock: ports.host.clock,
    metrics: ports.metrics,
    statuses,
    desiredPods: desired.pods,
    mirrorPods: desired.mirrorPods,
    states: workers.states,
    runtimePods: readings.pleg.pods,
    discardedEvents: () => inbox.discarded,
    setVolumeGauges: runtime.volumes.statistics.setGauges,
  });
}
