import type { Log } from "../../base/log.ts";
import { createMetrics, type Metrics } from "../../base/metrics.ts";
import { startStallMeter } from "../../base/stall-meter.ts";
import { declareBuildSeries } from "../../config/build-series.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { systemEventLoop } from "../../host/linux/system/event-loop.ts";
import { declareProcessSeries } from "../../host/linux/system/process-series.ts";
import { systemClock } from "../../host/linux/system/system-clock.ts";
import type { Machine } from "../../host/port.ts";

/**
 * Creates the registry of everything that this process counts. It already has the series that are the same in every
 * program, and measures for as long as the process runs what keeps its event loop waiting.
 */
export async function createProcessMetrics(
  machine: Pick<Machine, "identity">,
  { featureGates }: Pick<NodeAgentConfig, "featureGates">,
  log: Log,
): Promise<Metrics> {
  const metrics = createMetrics();
  const { architecture } = await machine.identity();
  declareBuildSeries(metrics, `linux/${architecture}`, featureGates);
  declareProcessSeries(metrics);
  startStallMeter({ loop: systemEventLoop, metrics, log, monotonic: systemClock.monotonic });
  return metrics;
}
