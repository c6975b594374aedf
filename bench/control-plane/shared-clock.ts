const NANOSECONDS_PER_MILLISECOND = 1e6;

/** Milliseconds of the system's monotonic clock, which is the same in every process. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / NANOSECONDS_PER_MILLISECOND;
}
