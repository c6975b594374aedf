import type { PriorityLevelConfigurationSpec } from "../../../api/gen/types.ts";

/** The level's shares of the server, the part of them that others may use meanwhile, and how its requests wait. */
function queuedLevel(
  [nominalConcurrencyShares, lendablePercent]: [number, number],
  [queues, handSize]: [number, number],
): PriorityLevelConfigurationSpec {
  const limitResponse = { type: "Queue", queuing: { queues, handSize, queueLengthLimit: 50 } };
  return { type: "Limited", limited: { nominalConcurrencyShares, lendablePercent, limitResponse } };
}

/** The level that only the object of that name can have, and its name. */
export const EXEMPT = "exempt";

/** The levels that the mandatory schemas need, by name. Only the shares of the exempt one can be changed. */
export const MANDATORY_PRIORITY_LEVELS: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map([
  [
    "catch-all",
    {
      type: "Limited",
      limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: "Reject" } },
    },
  ],
  [EXEMPT, { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
]);

/** The other levels that every cluster begins with, by name. */
export const SUGGESTED_PRIORITY_LEVELS: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map([
  ["system", queuedLevel([30, 33], [64, 6])],
  ["node-high", queuedLevel([40, 25], [64, 6])],
  ["leader-election", queuedLevel([10, 0], [16, 4])],
  ["workload-high", queuedLevel([40, 50], [128, 6])],
  ["workload-low", queuedLevel([100, 90], [128, 6])],
  ["global-default", queuedLevel([20, 50], [128, 6])],
]);
