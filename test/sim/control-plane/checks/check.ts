import type { Entry } from "../ledger.ts";

/** Watches what the disk gets, and calls `world.fail` when its invariant does not hold. */
export interface LedgerCheck {
  changed(entry: Entry): void;
}
