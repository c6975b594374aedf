import type { Log } from "../../base/log.ts";
import type { Journal } from "../../journal/port.ts";
import type { History } from "./history.ts";

/** Lets the journal forget what history has forgotten. */
interface JournalCompaction {
  /** `isIdle`: nobody waits for the disk now. Never rejects: what could not be compacted now is so later. */
  catchUp(isIdle: boolean): Promise<void>;
}

/** In revisions. Less is not worth a write; with the larger lag it is done although somebody waits. */
const LAG_WHEN_IDLE = 512;
const LAG_AT_MOST = 4_096;

export function createJournalCompaction(deps: {
  journal: Pick<Journal, "compact">;
  log: Log;
  history: Pick<History, "compactedRevision">;
  /** How far the journal is. */
  compactedRevision: number;
}): JournalCompaction {
  const { journal, log, history } = deps;
  let reached = deps.compactedRevision;

  return {
    async catchUp(isIdle) {
      const target = history.compactedRevision;
      if (target - reached < (isIdle ? LAG_WHEN_IDLE : LAG_AT_MOST)) return;
      // Also when it fails, so that it is not tried again with every write: the next time takes this part along.
      reached = target;
      try {
        await journal.compact(target);
      } catch (error) {
        log.warn("Old history could not be removed from the disk", { revision: target, error });
      }
    },
  };
}
