import type { CpuSet } from "../../../base/cpu-list.ts";
import type { NumaHint } from "../topology/merge-hints.ts";
import { countNumaNodes, listNumaMasks, numaMaskOf } from "../topology/numa-mask.ts";
import type { CpuTopology } from "./cpu-topology.ts";

interface CpuHintInput {
  readonly topology: CpuTopology;
  readonly wanted: number;
  readonly available: CpuSet;
  /** The CPUs that are the pod's already: all of them have to be on the nodes. */
  readonly reusable: CpuSet;
}

/** The sets of NUMA nodes on which the CPUs could be given, as upstream's `generateCPUTopologyHints`. */
export function computeCpuHints({ topology, wanted, available, reusable }: CpuHintInput): NumaHint[] {
  const nodes = [...new Set([...topology.values()].map(({ numaNode }) => numaNode))].sort((a, b) => a - b);
  let fewest = nodes.length;
  const masks = listNumaMasks(nodes).filter((mask) => {
    const isIn = (cpu: number) => (numaMaskOf([topology.get(cpu)?.numaNode ?? 0]) & mask) !== 0n;
    if ([...topology.keys()].filter(isIn).length >= wanted) fewest = Math.min(fewest, countNumaNodes(mask));
    return [...reusable].every(isIn) && reusable.size + [...available].filter(isIn).length >= wanted;
  });
  return masks.map((mask) => ({ nodes: mask, isPreferred: countNumaNodes(mask) === fewest }));
}
