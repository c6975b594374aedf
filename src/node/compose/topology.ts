import { createTopologyPolicy, type TopologyPolicy } from "../resources/topology/topology-policy.ts";
import type { Foundation } from "./foundation.ts";

/** Rejects where the machine has more NUMA nodes than the configuration allows. */
export async function composeTopology({ ports, config }: Foundation): Promise<TopologyPolicy> {
  const { host, metrics } = ports;
  const { clock, files } = host;
  return await createTopologyPolicy({ clock, files, metrics }, config.topology);
}
