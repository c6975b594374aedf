import type { Dice } from "../dice.ts";
import type { Event } from "../schedule-event.ts";

/** When containers take what the node has too little of. */
export function makeShortageSchedule(dice: Dice, endsAt: number): Event[] {
  return Array.from({ length: dice.pick([1, 2, 4]) }, () => ({
    at: Math.round(dice.between(0, endsAt)),
    name: "a resource goes",
    happen: ({ shortage }) => shortage?.grow(),
  }));
}
