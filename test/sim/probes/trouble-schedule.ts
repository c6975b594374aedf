import type { Dice } from "../dice.ts";
import type { Event } from "../schedule-event.ts";

/** When containers answer their probes badly. */
export function makeTroubleSchedule(dice: Dice, endsAt: number): Event[] {
  return Array.from({ length: dice.whole(2, 20) }, () => ({
    at: Math.round(dice.between(0, endsAt)),
    name: "probe trouble",
    happen: ({ probed }) => probed?.trouble(),
  }));
}
