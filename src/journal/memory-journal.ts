import { assert } from "../base/assert.ts";
import { checkRising } from "./check-rising.ts";
import type { Journal, JournalObject, JournalRecord } from "./port.ts";

/**
 * A journal that forgets everything with the process, for clusters that live as long as a test. Closing keeps its
 * content: loading it again corresponds to a restart with a journal on disk.
 */
export function createMemoryJournal(): Journal {
  const objects = new Map<string, JournalObject>();
  const records: JournalRecord[] = [];
  let compactedRevision = 0;
  let revision = 0;

  return {
    load: async () => ({
      objects: [...objects.values()].sort((a, b) => a.revision - b.revision),
      records: [...records],
      compactedRevision,
      revision,
    }),
    async append(added) {
      revision = checkRising(revision, added);
      for (const record of added) records.push(record);
    },
    async compact(target) {
      assert(target <= revision, "a journal is compacted up to what it has");
      if (target <= compactedRevision) return;
      compactedRevision = target;
      const kept = records.findIndex((record) => record.revision > target);
      const folded = records.splice(0, kept < 0 ? records.length : kept);
      for (const { type, key, revision, json } of folded) {
        if (type === "put") objects.set(key, { key, revision, json });
        else objects.delete(key);
      }
    },
    shortage: undefined,
    close: async () => undefined,
  };
}
