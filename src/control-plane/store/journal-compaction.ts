import type { Log } from "../../base/log.ts";
import type { Journal } from "../../journal/port.ts";
import type { History } from "./history.ts";

/** Lets the journal forget what history has forgotten. */
interface JournalCompaction {
  /** `isIdle`: no write waits for the disk now. Never rejects: what could not be compacted is compacted later. */
  catchUp(isIdle: boolean): Promise<void>;
}

/** In revisions. A smaller lag is not worth a write; the larger lag is compacted although writes wait. */
const LAG_WHEN_IDLE = 512;
const LAG_AT_MOST = 4_096;

export function createJournalCompaction(deps: {
  journal: Pick<Journal, "compact">;
  log: Log;
  history: Pick<History, "compactedRevision">;
  /** The revision up to which the journal is compacted. */
  compactedRevision: number;
}): JournalCompaction {
  const { journal, log, history } = deps;
  let reached = deps.compactedRevision;

  return {
    async catchUp(isIdle) {
      const target = history.compactedRevision;
      if (target - reached < (isIdle ? LAG_WHEN_IDLE : LAG_AT_MOST)) return;
      // Set also when it fails, so that it is not tried again with each write: the next time takes this part along.
      reached = target;
      try {
        await journal.compact(target);
      } catch (error) {
        log.warn("Old history could not be removed from the disk", { revision: target, error });
      }
    },
  };
}
