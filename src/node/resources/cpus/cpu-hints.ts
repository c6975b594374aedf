import type { CpuSet } from "../../../base/cpu-list.ts";
import type { NumaHint } from "../topology/merge-hints.ts";
import { countNumaNodes, listNumaMasks, type NumaMask, numaMaskOf } from "../topology/numa-mask.ts";
import type { CpuTopology } from "./cpu-topology.ts";

interface CpuHintInput {
  readonly topology: CpuTopology;
  readonly wanted: number;
  readonly available: CpuSet;
  /** The CPUs that are the pod's already: all of them have to be on the nodes. */
  readonly reusable: CpuSet;
  /** Nodes of as few sockets as can be are as good as the fewest nodes. */
  readonly alignsToSockets: boolean;
}

/** The sets of NUMA nodes on which the CPUs could be given, as upstream's `generateCPUTopologyHints`. */
export function computeCpuHints(input: CpuHintInput): NumaHint[] {
  const { topology, wanted, available, reusable } = input;
  const nodes = [...new Set([...topology.values()].map(({ numaNode }) => numaNode))].sort((a, b) => a - b);
  let fewest = nodes.length;
  const masks = listNumaMasks(nodes).filter((mask) => {
    const isIn = (cpu: number) => (numaMaskOf([topology.get(cpu)?.numaNode ?? 0]) & mask) !== 0n;
    if ([...topology.keys()].filter(isIn).length >= wanted) fewest = Math.min(fewest, countNumaNodes(mask));
    return [...reusable].every(isIn) && reusable.size + [...available].filter(isIn).length >= wanted;
  });
  const isAligned = input.alignsToSockets ? judgeSockets(topology, fewest) : () => false;
  return masks.map((mask) => ({ nodes: mask, isPreferred: countNumaNodes(mask) === fewest || isAligned(mask) }));
}

/** Tells of nodes whether their sockets are as few as hold the fewest nodes that suffice. */
function judgeSockets(topology: CpuTopology, fewestNodes: number): (mask: NumaMask) => boolean {
  const places = [...topology.values()];
  const count = (level: "numaNode" | "socket") => new Set(places.map((place) => place[level])).size;
  const nodesOfSocket = Math.floor(count("numaNode") / count("socket"));
  const fewest = Math.ceil(fewestNodes / nodesOfSocket);
  return (mask) => {
    const within = places.filter(({ numaNode }) => (numaMaskOf([numaNode]) & mask) !== 0n);
    return new Set(within.map(({ socket }) => socket)).size === fewest;
  };
}
