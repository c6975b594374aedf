import { type Clock, SECOND } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Journal } from "../../journal/port.ts";

interface SlowDiskDeps {
  readonly clock: Pick<Clock, "monotonic" | "setTimer">;
  readonly log: Pick<Log, "warn" | "info">;
}

/** Clients give a write up after ten seconds, and nodes are taken for lost after forty. */
const SLOW_MS = 5 * SECOND;

/**
 * A journal whose log tells when the disk does not take what is written. All writes of the API wait for it meanwhile, so
 * that nodes seem to be lost and clients see nothing but time-outs.
 */
export function tellSlowDisk(journal: Journal, { clock, log }: SlowDiskDeps): Journal {
  return {
    load: async () => await journal.load(),
    compact: async (revision) => await journal.compact(revision),
    close: async () => await journal.close(),
    get shortage() {
      return journal.shortage;
    },
    async append(records) {
      const startedAt = clock.monotonic();
      let isTold = false;
      const timer = clock.setTimer(SLOW_MS, () => {
        isTold = true;
        log.warn("The disk of the control plane is slow, and all writes wait for it", { waitedMs: SLOW_MS });
      });
      try {
        await journal.append(records);
      } finally {
        timer.cancel();
        if (isTold) log.info("The disk of the control plane has answered", { afterMs: clock.monotonic() - startedAt });
      }
    },
  };
}
