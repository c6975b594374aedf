import { createSummaryReader } from "../node-proxy/node-summary.ts";
import type { ComputedObjects } from "../ports/computed-objects.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { createResourceMetrics } from "../resource-metrics/resource-metrics.ts";
import { createUsageCache } from "../resource-metrics/usage-cache.ts";
import type { ControlPlaneConfig, ControlPlaneDeps } from "./control-plane-ports.ts";

/**
 * The kinds that are made of what the nodes tell, for the API and for the autoscalers: what a node told one of them, it
 * is not asked again for the other.
 */
export function composeResourceMetrics(
  parts: Pick<ControlPlaneDeps, "nodes" | "clock" | "log"> & { reader: ResourceReader },
  { localNode }: Pick<ControlPlaneConfig, "localNode">,
): ReadonlyMap<string, ComputedObjects> {
  const { reader, nodes, clock, log } = parts;
  const readSummary = createSummaryReader({ ...nodes, reader, clock, localNode });
  return createResourceMetrics({ reader, clock, readUsage: createUsageCache({ readSummary, clock, log }) });
}
