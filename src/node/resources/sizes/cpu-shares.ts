const SHARES_PER_CPU = 1024n;
const MILLI_PER_CPU = 1000n;
/** The kernel's own bounds of `cpu.shares`. */
const MIN_SHARES = 2n;
const MAX_SHARES = 262_144n;
/** The kernel refuses quotas below a millisecond. */
const MIN_QUOTA_MICROSECONDS = 1000n;

/** `cpu.shares` of a CPU request in thousandths of a core; the kernel's minimum for none. */
export function milliCpuToShares(milliCpu: bigint): bigint {
  const shares = (milliCpu * SHARES_PER_CPU) / MILLI_PER_CPU;
  if (shares < MIN_SHARES) return MIN_SHARES;
  return shares > MAX_SHARES ? MAX_SHARES : shares;
}

/** The CFS quota in microseconds of a CPU limit in thousandths of a core; 0 (no quota) for no limit. */
export function milliCpuToQuota(milliCpu: bigint, periodMicroseconds: bigint): bigint {
  if (milliCpu === 0n) return 0n;
  const quota = (milliCpu * periodMicroseconds) / MILLI_PER_CPU;
  return quota < MIN_QUOTA_MICROSECONDS ? MIN_QUOTA_MICROSECONDS : quota;
}
