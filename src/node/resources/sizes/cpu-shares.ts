const SHARES_PER_CPU = 1024n;
const MILLI_PER_CPU = 1000n;
/** The kernel's own bounds of `cpu.shares`. */
const MIN_SHARES = 2n;
const MAX_SHARES = 262_144n;
/** The kernel refuses quotas below a millisecond. */
const MIN_QUOTA_MICROSECONDS = 1000n;

/** Computes `cpu.shares` from a CPU request in thousandths of a core. No request gives the kernel's minimum. */
export function milliCpuToShares(milliCpu: bigint): bigint {
  const shares = (milliCpu * SHARES_PER_CPU) / MILLI_PER_CPU;
  if (shares < MIN_SHARES) return MIN_SHARES;
  return shares > MAX_SHARES ? MAX_SHARES : shares;
}

/** Computes the CFS quota in microseconds from a CPU limit in thousandths of a core; 0 (no quota) for no limit. */
export function milliCpuToQuota(milliCpu: bigint, periodMicroseconds: bigint): bigint {
  if (milliCpu === 0n) return 0n;
  const quota = (milliCpu * periodMicroseconds) / MILLI_PER_CPU;
  return quota < MIN_QUOTA_MICROSECONDS ? MIN_QUOTA_MICROSECONDS : quota;
}
