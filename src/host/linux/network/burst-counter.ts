/**
 * Counts what each connection begins within one turn of the event loop. All that the kernel holds of a connection, megabytes of
 * it, is handled in one turn, and a client that takes its requests back at once is not held by the number that may be open: fifty
 * thousand of them would be served before anybody else is.
 */
interface BurstCounter<Counted> {
  /** Returns how many there are in this turn, with this one. */
  add(counted: Counted): number;
}

/** `defer` calls back once the turn is over. */
export function createBurstCounter<Counted>(defer: (callback: () => void) => void): BurstCounter<Counted> {
  const counts = new Map<Counted, number>();
  return {
    add(counted) {
      if (counts.size === 0) defer(() => counts.clear());
      const count = (counts.get(counted) ?? 0) + 1;
      counts.set(counted, count);
      return count;
    },
  };
}
