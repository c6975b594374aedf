import type { Dice } from "./dice.ts";

/** A node with room for few pods. */
export interface Places {
  /** As many static pods as there are names for, or one more: those always find room, at the others' expense. */
  readonly count: number;
  /** Pods of the API that were preempted or refused for want of a place, by UID: they fail, which is final. */
  readonly givenUp: Set<string>;
  readonly dice: Dice;
}

const STATIC_NAMES = 5;

export function createPlaces(dice: Dice): Places {
  return { count: dice.whole(STATIC_NAMES, STATIC_NAMES + 1), givenUp: new Set(), dice };
}
