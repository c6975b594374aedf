const MAX_SHARES = 262_144n;
const MAX_WEIGHT = 10_000n;

/**
 * A cgroup's share of processors, converted from version 1's 2…262,144 to version 2's 1…10,000 as in upstream's
 * `getCPUWeight`.
 */
export function computeCpuWeight(shares: bigint): bigint {
  return shares >= MAX_SHARES ? MAX_WEIGHT : 1n + ((shares - 2n) * 9_999n) / 262_142n;
}
