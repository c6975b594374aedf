import type { Part } from "../../base/run-parts.ts";
import { keepNodeChains } from "../upkeep/iptables/keep-node-chains.ts";
import type { Foundation } from "./foundation.ts";

/** Makes the chains of iptables that other programs look for, unless the configuration says no. */
export function composeIptables({ ports, config }: Foundation): readonly Part[] {
  if (config.kubelet.makeIPTablesUtilChains === false) return [];
  const { host, log } = ports;
  const deps = { programs: host.programs, clock: host.clock, log };
  return [{ name: "iptables", run: async (signal) => await keepNodeChains(deps, signal) }];
}
