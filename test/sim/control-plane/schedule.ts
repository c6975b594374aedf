import { MINUTE } from "../../../src/base/clock.ts";
import type { Dice } from "../dice.ts";
import { DEEDS, doDeed } from "./deeds.ts";
import { NO_DISK_FAULTS } from "./disk.ts";
import { NO_WEBHOOK_FAULTS } from "./webhook.ts";
import { WORKLOADS } from "./workloads.ts";
import type { ControlPlaneWorld } from "./world.ts";

export interface Happening {
  readonly at: number;
  readonly name: string;
  happen(world: ControlPlaneWorld): Promise<void> | void;
}

/** A seed's chaos: what users do, what goes wrong, and when the world stops to interfere. */
interface ControlPlaneSchedule {
  readonly events: readonly Happening[];
  readonly endsAt: number;
}

const LONGEST_MS = 4 * MINUTE;
const MOST_WRITES_BEFORE_DEATH = 300;
const JUMPS_MS = [-3_600_000, -90_000, -2_000, 2_000, 90_000, 3_600_000] as const;

export function makeControlPlaneSchedule(dice: Dice): ControlPlaneSchedule {
  const endsAt = Math.round(dice.between(30_000, LONGEST_MS));
  const at = () => Math.round(dice.between(0, endsAt));
  const firsts = Array.from({ length: dice.whole(2, 6) }, () => deed(0, "create"));
  const deeds = Array.from({ length: dice.whole(5, 40) }, () => deed(at(), dice.pick(DEEDS)));
  const isCalm = dice.chance(0.2);
  const storms = isCalm ? [] : Array.from({ length: dice.whole(1, 4) }, () => storm(dice, endsAt)).flat();
  const deaths = dice.chance(0.3) ? [] : Array.from({ length: dice.whole(1, 5) }, () => death(dice, at()));
  const jumps = dice.chance(0.25) ? [jump(at(), dice.pick(JUMPS_MS))] : [];
  const events = [...firsts, ...deeds, ...storms, ...deaths, ...jumps];
  return { events: events.toSorted((a, b) => a.at - b.at), endsAt };
}

function deed(at: number, name: (typeof DEEDS)[number]): Happening {
  return {
    at,
    name: `deed: ${name}`,
    happen: (world) => void doDeed({ world, dice: world.dice, kinds: WORKLOADS }, name),
  };
}

function storm(dice: Dice, endsAt: number): Happening[] {
  const begins = Math.round(dice.between(0, endsAt));
  const ends = Math.round(Math.min(endsAt, begins + dice.between(1_000, 60_000)));
  const rate = (chance: number, most: number) => (dice.chance(chance) ? dice.between(0, most) : 0);
  const disk = { slow: rate(0.5, 0.5), full: rate(0.3, 0.2) };
  const webhook = { refused: rate(0.6, 0.5), slow: rate(0.5, 0.5), silent: rate(0.2, 0.1), garbled: rate(0.3, 0.2) };
  return [
    {
      at: begins,
      name: "a storm begins",
      happen(world) {
        world.count("storm");
        world.disk.storm(disk);
        world.webhook.storm(webhook);
      },
    },
    { at: ends, name: "a storm ends", happen: endStorm },
  ];
}

export function endStorm(world: ControlPlaneWorld): void {
  world.disk.storm(NO_DISK_FAULTS);
  world.webhook.storm(NO_WEBHOOK_FAULTS);
}

/** The process is killed now, and the next one, mostly, at one of its writes; the earlier ones more often. */
function death(dice: Dice, at: number): Happening {
  const delayMs = dice.pick([0, 50, 1_000, dice.between(0, 30_000)]);
  const write = Math.ceil(MOST_WRITES_BEFORE_DEATH ** dice.between(0, 1));
  const deathPoint = dice.chance(0.7) ? { write, phase: dice.pick(["before", "after"] as const) } : undefined;
  return {
    at,
    name: "kill -9",
    happen({ server, clock }) {
      server.crash("at some time");
      clock.setTimer(delayMs, () => void server.start(deathPoint));
    },
  };
}

function jump(at: number, ms: number): Happening {
  return {
    at,
    name: `the clock is set by ${ms} ms`,
    happen(world) {
      world.count("clock set");
      world.disturbances.all();
      world.clock.jumpWallClock(ms);
    },
  };
}
