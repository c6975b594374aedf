import { type CpuRequest, createCpuGroups } from "./cpu-groups.ts";
import type { CpuTopology } from "./cpu-topology.ts";

/** Each set of NUMA nodes may be looked at, and each part of it: more nodes would take too long. */
export const MAX_DIVIDED_NUMA_NODES = 8;

interface DivideOptions {
  /** CPUs are given in groups of so many. */
  readonly groupSize: number;
  /** NUMA nodes of one socket come before others. */
  readonly alignsToSockets: boolean;
  /** Takes CPUs that are close to each other. */
  take(request: CpuRequest): ReadonlySet<number>;
}

/** How CPUs could be divided: as many on each node, and a group more, round by round, on some of them. */
interface Division {
  readonly nodes: readonly number[];
  readonly onEach: number;
  readonly rest: number;
  readonly nodesOfRest: readonly number[];
  /** How uneven it leaves the free CPUs of all nodes: their standard deviation. */
  readonly imbalance: number;
  readonly isInOneSocket: boolean;
}

/**
 * Divides CPUs evenly among as few NUMA nodes as can be, so that the nodes are left as even as can be
 * (upstream's `takeByTopologyNUMADistributed`). Undefined: they cannot be divided.
 */
export function divideCpus(request: CpuRequest, options: DivideOptions): ReadonlySet<number> | undefined {
  const { topology, available, wanted } = request;
  const { groupSize, alignsToSockets } = options;
  if (wanted % groupSize !== 0) return undefined;
  const groups = createCpuGroups(request);
  const free = new Map(groups.list("numaNode").map((node) => [node, groups.freeIn("numaNode", node).length]));
  const { fewest, most } = countNodes(request, { groupSize, free: free.size });
  for (let count = fewest; count <= most; count++) {
    let best: Division | undefined;
    for (const nodes of combinations([...free.keys()], count)) {
      if (best?.imbalance === 0 && (!alignsToSockets || best.isInOneSocket)) break;
      const isInOneSocket = alignsToSockets && countSockets(topology, nodes) === 1;
      const division = planDivision({ nodes, free, wanted, groupSize, isInOneSocket, alignsToSockets });
      if (division !== undefined && isBetter(division, best)) best = division;
    }
    if (best !== undefined) return carryOut(best, { topology, available, wanted }, options);
  }
  return undefined;
}

function countNodes(
  { topology, wanted }: CpuRequest,
  { groupSize, free }: { readonly groupSize: number; readonly free: number },
): { readonly fewest: number; readonly most: number } {
  const nodes = new Set([...topology.values()].map(({ numaNode }) => numaNode)).size;
  const ofNode = Math.ceil(Math.ceil(topology.size / groupSize) / nodes);
  const groups = Math.ceil(wanted / groupSize);
  return { fewest: Math.ceil(groups / ofNode), most: Math.min(groups, free) };
}

interface DivisionInput {
  readonly nodes: readonly number[];
  /** The number of free CPUs of every node that has some. */
  readonly free: ReadonlyMap<number, number>;
  readonly wanted: number;
  readonly groupSize: number;
  readonly isInOneSocket: boolean;
  readonly alignsToSockets: boolean;
}

function planDivision(input: DivisionInput): Division | undefined {
  const { nodes, free, wanted, groupSize, isInOneSocket } = input;
  const whole = nodes.map((node) => toGroups(free.get(node) ?? 0, groupSize));
  if (whole.reduce((sum, cpus) => sum + cpus, 0) < wanted) return undefined;
  const even = toGroups(Math.floor(wanted / nodes.length), groupSize);
  // Nodes of one socket are worth an uneven division.
  const onEach = input.alignsToSockets ? Math.min(even, ...whole) : even;
  if (whole.some((cpus) => cpus < onEach)) return undefined;
  const left = new Map([...free].map(([node, cpus]) => [node, nodes.includes(node) ? cpus - onEach : cpus]));
  const rest = wanted - onEach * nodes.length;
  const common = { nodes, onEach, rest, isInOneSocket };
  if (rest === 0) return { ...common, nodesOfRest: [], imbalance: standardDeviation([...left.values()]) };
  const candidates = nodes.filter((node) => (left.get(node) ?? 0) >= groupSize);
  let best: Division | undefined;
  for (let count = candidates.length; count > 0; count--) {
    for (const nodesOfRest of combinations(candidates, count)) {
      const after = new Map(left);
      if (!takeRounds(nodesOfRest, after, { rest, groupSize })) continue;
      const imbalance = standardDeviation([...after.values()]);
      if (best === undefined || imbalance < best.imbalance) best = { ...common, nodesOfRest, imbalance };
    }
  }
  return best;
}

/** Takes a group of each node in turn, until the rest is taken; false where there is not enough. */
function takeRounds(
  nodes: readonly number[],
  left: Map<number, number>,
  { rest, groupSize }: { readonly rest: number; readonly groupSize: number },
  onTake: (node: number) => void = () => undefined,
): boolean {
  let missing = rest;
  while (missing > 0) {
    const before = missing;
    for (const node of nodes) {
      const cpus = left.get(node) ?? 0;
      if (missing === 0 || cpus < groupSize) continue;
      left.set(node, cpus - groupSize);
      missing -= groupSize;
      onTake(node);
    }
    if (missing === before) return false;
  }
  return true;
}

function isBetter(division: Division, best: Division | undefined): boolean {
  if (best === undefined) return true;
  if (division.isInOneSocket !== best.isInOneSocket) return division.isInOneSocket;
  return division.imbalance < best.imbalance;
}

function carryOut(division: Division, request: CpuRequest, { groupSize, take }: DivideOptions): ReadonlySet<number> {
  const { topology, available } = request;
  const taken = new Set<number>();
  const freeOn = (node: number) =>
    new Set([...available].filter((cpu) => topology.get(cpu)?.numaNode === node && !taken.has(cpu)));
  const takeOn = (node: number, wanted: number) => {
    for (const cpu of take({ topology, available: freeOn(node), wanted })) taken.add(cpu);
  };
  for (const node of division.nodes) takeOn(node, division.onEach);
  const left = new Map(division.nodesOfRest.map((node) => [node, freeOn(node).size]));
  takeRounds(division.nodesOfRest, left, { rest: division.rest, groupSize }, (node) => takeOn(node, groupSize));
  return taken;
}

/** Each way to take `count` of them, in their order. */
function* combinations(from: readonly number[], count: number): Generator<readonly number[]> {
  if (count === 0) yield [];
  for (const [index, first] of from.entries()) {
    if (from.length - index < count || count === 0) return;
    for (const others of combinations(from.slice(index + 1), count - 1)) yield [first, ...others];
  }
}

function toGroups(cpus: number, groupSize: number): number {
  return Math.floor(cpus / groupSize) * groupSize;
}

function countSockets(topology: CpuTopology, nodes: readonly number[]): number {
  const places = [...topology.values()].filter(({ numaNode }) => nodes.includes(numaNode));
  return new Set(places.map(({ socket }) => socket)).size;
}

/** Rounded to thousandths, as upstream's, so that the same divisions are as good as each other. */
function standardDeviation(values: readonly number[]): number {
  const round = (value: number) => Math.round(value * 1_000) / 1_000;
  const mean = round(values.reduce((sum, value) => sum + value, 0) / values.length);
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return round(Math.sqrt(variance));
}
