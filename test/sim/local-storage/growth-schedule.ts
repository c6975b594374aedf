import type { Dice } from "../dice.ts";
import type { Event } from "../schedule-event.ts";

/** When containers write to the node's disk. */
export function makeGrowthSchedule(dice: Dice, endsAt: number): Event[] {
  return Array.from({ length: dice.pick([1, 2, 4, 8]) }, () => ({
    at: Math.round(dice.between(0, endsAt)),
    name: "storage grows",
    happen: ({ growth }) => growth?.grow(),
  }));
}
