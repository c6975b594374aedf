/** A set of NUMA nodes, one bit for each. */
export type NumaMask = bigint;

/** The mask of these nodes. */
export function numaMaskOf(nodes: Iterable<number>): NumaMask {
  let mask = 0n;
  for (const node of nodes) mask |= 1n << BigInt(node);
  return mask;
}

/** The nodes of a mask, in order. */
export function listNumaNodes(mask: NumaMask): number[] {
  const nodes: number[] = [];
  for (let rest = mask, node = 0; rest > 0n; rest >>= 1n, node++) if ((rest & 1n) === 1n) nodes.push(node);
  return nodes;
}

/** How many nodes a mask has. */
export function countNumaNodes(mask: NumaMask): number {
  return listNumaNodes(mask).length;
}

/** Every set of the nodes but the empty one. There are 2ⁿ − 1 of them: the machine's nodes are bounded for it. */
export function listNumaMasks(nodes: readonly number[]): NumaMask[] {
  let masks: NumaMask[] = [0n];
  for (const node of nodes) masks = masks.flatMap((mask) => [mask, mask | (1n << BigInt(node))]);
  return masks.filter((mask) => mask !== 0n).sort((a, b) => (a < b ? -1 : 1));
}

/** True where `a` has fewer nodes than `b`, or as many with lower numbers. */
export function isNarrower(a: NumaMask, b: NumaMask): boolean {
  const [left, right] = [countNumaNodes(a), countNumaNodes(b)];
  return left === right ? a < b : left < right;
}
