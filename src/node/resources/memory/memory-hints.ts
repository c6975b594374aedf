import type { NumaHint } from "../topology/merge-hints.ts";
import { isNarrower, listNumaMasks, listNumaNodes, type NumaMask, numaMaskOf } from "../topology/numa-mask.ts";
import { isSameGroup, type MemoryState } from "./memory-state.ts";
import type { RequestedMemory } from "./requested-memory.ts";

/** NUMA nodes on which memory could be given. */
export interface MemoryHint extends NumaHint {
  readonly nodes: NumaMask;
}

interface MemoryHintInput {
  readonly state: MemoryState;
  readonly wanted: RequestedMemory;
  /** The bytes on exactly these nodes that are the pod's already. */
  reusable(resource: string, numaNodes: readonly number[]): number;
}

/**
 * The sets of NUMA nodes on which all of the memory could be given, as upstream's `calculateHints`
 * (cm/memorymanager/policy_static.go). Nodes that serve a group serve no single allocations, nor another group.
 */
export function computeMemoryHints({ state, wanted, reusable }: MemoryHintInput): MemoryHint[] {
  let fewest = state.size;
  const found: MemoryHint[] = [];
  for (const mask of listNumaMasks([...state.keys()].sort((a, b) => a - b))) {
    const nodes = listNumaNodes(mask);
    const sum = (name: string, of: "allocatable" | "free") =>
      nodes.reduce((bytes, node) => bytes + (state.get(node)?.memory.get(name)?.[of] ?? 0), 0);
    if ([...wanted].some(([name, size]) => sum(name, "allocatable") < size)) continue;
    fewest = Math.min(fewest, nodes.length);
    if (!mayServe(state, nodes)) continue;
    if ([...wanted].some(([name, size]) => sum(name, "free") + reusable(name, nodes) < size)) continue;
    found.push({ nodes: mask, isPreferred: false });
  }
  return found.map(({ nodes }) => ({ nodes, isPreferred: listNumaNodes(nodes).length === fewest }));
}

function mayServe(state: MemoryState, nodes: readonly number[]): boolean {
  const [first] = nodes;
  if (nodes.length === 1 && first !== undefined) return (state.get(first)?.cells.length ?? 1) === 1;
  return !isAgainstGroups(state, nodes);
}

/** True where a node of a group is in use already, and not by exactly this group. A single node breaks no group here. */
export function isAgainstGroups(state: MemoryState, nodes: readonly number[]): boolean {
  if (nodes.length === 1) return false;
  return nodes.some((node) => {
    const { assignments, cells } = state.get(node) ?? { assignments: 0, cells: [] };
    return assignments > 0 && !isSameGroup(cells, nodes);
  });
}

/** True where the nodes have all of it free. */
export function hasFreeMemory(state: MemoryState, nodes: readonly number[], wanted: RequestedMemory): boolean {
  return [...wanted].every(([name, size]) => {
    return nodes.reduce((sum, node) => sum + (state.get(node)?.memory.get(name)?.free ?? 0), 0) >= size;
  });
}

/** The preferred one with the fewest nodes, else the one with the fewest; undefined where there is none. */
export function chooseMemoryHint(hints: readonly MemoryHint[]): MemoryHint | undefined {
  return hints.reduce<MemoryHint | undefined>((best, hint) => {
    if (best === undefined) return hint;
    if (hint.isPreferred !== best.isPreferred) return hint.isPreferred ? hint : best;
    return isNarrower(hint.nodes, best.nodes) ? hint : best;
  }, undefined);
}

/** The hints whose nodes include these. */
export function hintsAround(hints: readonly MemoryHint[], nodes: readonly number[]): MemoryHint[] {
  const inner = numaMaskOf(nodes);
  return hints.filter((hint) => (hint.nodes & inner) === inner);
}
