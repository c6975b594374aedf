import type { Dice } from "../dice.ts";
import type { Event } from "../schedule-event.ts";
import type { World } from "../world.ts";
import { type ApiFaultRates, NO_API_FAULTS } from "./api-faults.ts";
import { DEEDS, type Deed } from "./api-user.ts";
import { NO_WRONG_ANSWERS, type WrongAnswerRates } from "./wrong-answers.ts";

/** Until a watch has been begun anew. */
const SHORT_EXPIRY_MS = 500;

/** What users do, and what goes wrong between the node and its API server. */
export function makeApiSchedule(dice: Dice, endsAt: number): Event[] {
  const at = () => Math.round(dice.between(0, endsAt));
  const first = Array.from({ length: dice.whole(0, 3) }, () => deed(0, "create"));
  const objects = Array.from({ length: dice.whole(0, 4) }, () => deed(0, "change an object"));
  const deeds = Array.from({ length: dice.whole(4, 24) }, () => deed(at(), dice.pick(DEEDS)));
  if (dice.chance(0.2)) return [...objects, ...first, ...deeds];
  const storms = Array.from({ length: dice.whole(0, 2) }, () => storm(dice, endsAt)).flat();
  const outages = Array.from({ length: dice.whole(0, 2) }, () => outage(dice, { at: at(), endsAt })).flat();
  const breaks = Array.from({ length: dice.whole(0, 3) }, () => watchBreak(at()));
  const jumps = dice.chance(0.2) ? [clockJump(dice, at())] : [];
  return [...objects, ...first, ...deeds, ...storms, ...outages, ...breaks, ...jumps];
}

function deed(at: number, name: Deed): Event {
  return { at, name: `user: ${name}`, happen: async ({ user }) => await user?.do(name) };
}

function storm(dice: Dice, endsAt: number): Event[] {
  const begins = Math.round(dice.between(0, endsAt));
  const ends = Math.round(Math.min(endsAt, begins + dice.between(1_000, 90_000)));
  const rate = (chance: number, most: number) => (dice.chance(chance) ? dice.between(0, most) : 0);
  const rates: ApiFaultRates = {
    refused: rate(0.6, 0.5),
    answerLost: rate(0.5, 0.4),
    slow: rate(0.4, 0.3),
    hang: rate(0.2, 0.1),
    expired: rate(0.4, 0.5),
    watchDropped: rate(0.5, 0.2),
    eventLate: rate(0.5, 0.5),
    eventDoubled: rate(0.4, 0.4),
  };
  return [
    { at: begins, name: "API storm begins", happen: ({ cluster }) => cluster?.faults.storm(rates) },
    { at: ends, name: "API storm ends", happen: ({ cluster }) => cluster?.faults.storm(NO_API_FAULTS) },
  ];
}

/** When the API server says what is not so. */
export function makeWrongSchedule(dice: Dice, endsAt: number): Event[] {
  return Array.from({ length: dice.whole(1, 3) }, (): Event[] => {
    const begins = Math.round(dice.between(0, endsAt));
    const ends = Math.round(Math.min(endsAt, begins + dice.between(1_000, 90_000)));
    const rate = (chance: number, most: number) => (dice.chance(chance) ? dice.between(0, most) : 0);
    const [list, object, event, eventLost] = [rate(0.7, 0.8), rate(0.5, 0.3), rate(0.7, 0.5), rate(0.3, 0.2)];
    const rates: WrongAnswerRates = { list, object, event, eventLost, field: Math.max(object, event) / 4 };
    return [
      { at: begins, name: "the API server begins to lie", happen: ({ cluster }) => cluster?.wrong?.storm(rates) },
      // Who is told that he is too late asks for a list, and it may be a wrong one.
      ...Array.from({ length: dice.whole(0, 3) }, () => ({
        at: Math.round(dice.between(begins, ends)),
        name: "the API server forgets what watches have seen",
        happen: ({ cluster }: World) => cluster?.faults.expireOnce(SHORT_EXPIRY_MS),
      })),
      {
        at: ends,
        name: "the API server lies no more",
        happen: ({ cluster }) => cluster?.wrong?.storm(NO_WRONG_ANSWERS),
      },
    ];
  }).flat();
}

function outage(dice: Dice, { at, endsAt }: { at: number; endsAt: number }): Event[] {
  const kind = dice.pick(["silent", "refused"] as const);
  const later = Math.min(endsAt, at + Math.round(dice.pick([dice.between(100, 5_000), dice.between(5_000, 120_000)])));
  return [
    { at, name: `API outage begins, ${kind}`, happen: ({ cluster }) => cluster?.faults.begin(kind) },
    { at: later, name: "API outage ends", happen: ({ cluster }) => cluster?.faults.mend() },
  ];
}

function watchBreak(at: number): Event {
  return { at, name: "watches break", happen: ({ cluster }) => cluster?.faults.breakWatches() };
}

/** The wall clock is set. */
function clockJump(dice: Dice, at: number): Event {
  const ms = Math.round(dice.pick([-1, 1]) * dice.pick([dice.between(10, 2_000), dice.between(2_000, 600_000)]));
  const happen = ({ clock, faults, interference, trace }: World) => {
    faults.count("clock jump");
    trace.note(`the wall clock jumps by ${ms} ms`);
    clock.jumpWallClock(ms);
    interference.clockJumpedAt = clock.monotonic();
  };
  return { at, name: "clock jump", happen };
}
