/** What one evaluation may still cost. */
export interface CostBudget {
  /** Counts cel-go's cost, of which users know the limits. */
  charge(cost: number): void;
  /**
   * Counts what cel-go's cost leaves out (characters read, items compared, patterns compiled), so that no expression
   * holds the event loop for long.
   */
  work(steps: number): void;
  /** What was charged. */
  spent(): number;
}

/** The cost that one evaluation may have, as upstream limits it. */
const MAX_COST = 1_000_000;
/** The steps that one evaluation may take beside; each takes some 50 ns. */
const MAX_WORK = 1_000_000;

/** Thrown where an evaluation reaches its limit: it ends at once, and no operator absorbs it. */
export class BudgetExceededError extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
    this.name = "BudgetExceededError";
  }
}

/** A budget of the cost. */
export function createCostBudget(limit: number = MAX_COST): CostBudget {
  let cost = 0;
  let steps = 0;
  return {
    charge(more) {
      cost += more;
      if (cost > limit) throw new BudgetExceededError();
    },
    work(more) {
      steps += more;
      if (steps > MAX_WORK) throw new BudgetExceededError();
    },
    spent: () => cost,
  };
}
