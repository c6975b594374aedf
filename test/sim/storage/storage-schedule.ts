import type { Dice } from "../dice.ts";
import type { Event } from "../schedule-event.ts";
import type { World } from "../world.ts";
import type { DRIVER_TROUBLES, Storage } from "./create-storage.ts";
import { type DriverFaultRates, NO_DRIVER_FAULTS } from "./driver-faults.ts";

/** What goes wrong with the node's storage driver, which may be one that lies. */
export function makeStorageSchedule(dice: Dice, endsAt: number, isLying: boolean): Event[] {
  const at = () => Math.round(dice.between(0, endsAt));
  const arrival = arrivalOf(dice, endsAt);
  const late = event(at(), "late volumes", async ({ makeMissing }) => await makeMissing());
  if (dice.chance(0.2)) return [arrival, late];
  const storms = Array.from({ length: dice.whole(0, 3) }, () => storm(dice, endsAt, isLying)).flat();
  const troubles = Array.from({ length: dice.whole(0, 4) }, () => trouble(dice, { at: at(), endsAt })).flat();
  return [arrival, late, ...storms, ...troubles];
}

/** The driver is a pod of another node agent's making here: it may come later than the pods that need it. */
function arrivalOf(dice: Dice, endsAt: number): Event {
  const at = Math.round(dice.pick([0, 0, dice.between(0, Math.min(30_000, endsAt))]));
  return event(at, "the driver comes", ({ driver }) => driver.start());
}

function event(at: number, name: string, happen: (storage: Storage, world: World) => Promise<void> | void): Event {
  return {
    at,
    name: `storage: ${name}`,
    async happen(world) {
      const storage = world.cluster?.storage;
      if (storage !== undefined) await happen(storage, world);
    },
  };
}

function storm(dice: Dice, endsAt: number, isLying: boolean): Event[] {
  const begins = Math.round(dice.between(0, endsAt));
  const ends = Math.round(Math.min(endsAt, begins + dice.between(1_000, 120_000)));
  const rate = (chance: number, most: number) => (dice.chance(chance) ? dice.between(0, most) : 0);
  const rates: DriverFaultRates = {
    refused: rate(0.6, 0.6),
    failedAfter: rate(0.6, 0.6),
    delayed: rate(0.5, 0.4),
    hangs: rate(0.3, 0.15),
    slowMount: rate(0.4, 0.4),
    lies: isLying ? rate(0.7, 0.6) : 0,
  };
  return [
    event(begins, "driver storm begins", ({ faults }) => faults.storm(rates)),
    event(ends, "driver storm ends", ({ faults }) => faults.storm(NO_DRIVER_FAULTS)),
  ];
}

function trouble(dice: Dice, { at, endsAt }: { at: number; endsAt: number }): Event[] {
  const lengthMs = dice.pick([dice.between(10, 3_000), dice.between(3_000, 60_000)]);
  const later = Math.min(endsAt, at + Math.round(lengthMs));
  const lasting = (
    kind: (typeof DRIVER_TROUBLES)[number],
    begin: (storage: Storage) => void,
    end = ({ driver }: Storage) => driver.start(),
  ): Event[] => [
    event(at, `${kind}: begins`, (storage, world) => {
      world.faults.begin(kind);
      begin(storage);
    }),
    event(later, `${kind}: ends`, (storage, world) => {
      world.faults.mend(kind);
      end(storage);
    }),
  ];
  switch (dice.pick(["away", "down", "hidden", "anew"])) {
    case "away":
      return lasting("driver away", ({ driver }) => {
        driver.stop();
        driver.hideSocket();
      });
    case "down":
      return lasting(
        "driver down",
        ({ driver }) => driver.stop(),
        ({ driver }) => driver.resume(),
      );
    case "hidden":
      return lasting("driver socket hidden", ({ driver }) => driver.hideSocket());
    default:
      return [
        event(at, "the driver starts anew", ({ driver }, world) => {
          world.faults.count("driver restart");
          driver.stop();
          driver.start();
        }),
      ];
  }
}
