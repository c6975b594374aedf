import { createMetrics, type Metrics } from "../../base/metrics.ts";
import { declareBuildSeries } from "../../config/build-series.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { declareProcessSeries } from "../../host/linux/system/process-series.ts";
import type { Machine } from "../../host/port.ts";

/**
 * Creates the registry of everything that this process counts. It already has the series that are the same in every
 * program.
 */
export async function createProcessMetrics(
  machine: Pick<Machine, "identity">,
  { featureGates }: Pick<NodeAgentConfig, "featureGates">,
): Promise<Metrics> {
  const metrics = createMetrics();
  const { architecture } = await machine.identity();
  declareBuildSeries(metrics, `linux/${architecture}`, featureGates);
  declareProcessSeries(metrics);
  return metrics;
}
