import { assert } from "../base/assert.ts";
import type { JournalRecord } from "./port.ts";

/**
 * Returns the last revision of the records. Throws unless they rise from record to record, and begin after `revision`.
 */
export function checkRising(revision: number, records: readonly JournalRecord[]): number {
  let last = revision;
  for (const record of records) {
    assert(record.revision > last, "revisions of a journal rise");
    last = record.revision;
  }
  return last;
}
