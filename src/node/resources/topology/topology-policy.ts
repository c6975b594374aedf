import type { Clock } from "../../../base/clock.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { TopologySettings } from "../../../config/topology-settings.ts";
import type { Files } from "../../../host/port.ts";
import type { MergePolicy } from "./merge-hints.ts";
import { declareTopologyMetrics, type TopologyMetrics } from "./metrics.ts";
import { readNumaNodes } from "./read-numa-nodes.ts";

/** How pods are aligned to the NUMA nodes of this machine. */
export interface TopologyPolicy {
  /** Undefined: they are not. */
  readonly merge: MergePolicy | undefined;
  /** Whether each container is aligned for itself, or the pod as a whole. */
  readonly scope: "container" | "pod";
  readonly metrics: TopologyMetrics;
}

/** Reads the NUMA nodes where they matter; rejects where the machine has more than the configuration allows. */
export async function createTopologyPolicy(
  deps: { readonly clock: Clock; readonly metrics: Metrics; readonly files: Pick<Files, "list" | "read"> },
  { policy, scope, preferClosestNumaNodes, maxNumaNodes }: TopologySettings,
): Promise<TopologyPolicy> {
  const metrics = declareTopologyMetrics(deps.metrics, deps.clock);
  if (policy === "none") return { merge: undefined, scope, metrics };
  const { nodes, distances } = await readNumaNodes(deps.files);
  if (nodes.length > maxNumaNodes) {
    const mend = "set topologyManagerPolicyOptions max-allowable-numa-nodes, or topologyManagerPolicy none";
    throw new Error(
      `topologyManagerPolicy ${policy}: unsupported on machines with more than ${maxNumaNodes} NUMA Nodes, ${mend}`,
    );
  }
  return { merge: { policy, nodes, distances: preferClosestNumaNodes ? distances : undefined }, scope, metrics };
}
