/** Thrown when a search for devices has taken as much as it may. */
export class SearchLimitError extends Error {
  constructor() {
    super("timed out trying to allocate devices");
  }
}

/**
 * What one search may take. Finding devices is a puzzle that may take for ever, and nothing else happens in this
 * process meanwhile; upstream ends it after ten seconds.
 */
export interface SearchBudget {
  /** Throws when the search has tried too many devices, or is that many deep. */
  countStep(depth: number): void;
  /** Throws when expressions have cost too much in all. */
  countCost(cost: number): void;
}

const MAX_STEPS = 50_000;
/** Each device is a call within that of the device before it. */
const MAX_DEPTH = 1_024;
const MAX_COST = 1_000_000;

/** The budget of one search. */
export function createSearchBudget(): SearchBudget {
  let steps = 0;
  let spent = 0;
  return {
    countStep(depth) {
      steps += 1;
      if (steps > MAX_STEPS || depth > MAX_DEPTH) throw new SearchLimitError();
    },
    countCost(cost) {
      spent += cost;
      if (spent > MAX_COST) throw new SearchLimitError();
    },
  };
}
