import { sleep } from "../../../src/base/abort.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { CodedError } from "../../../src/base/errors.ts";
import { createMemoryJournal } from "../../../src/journal/memory-journal.ts";
import type { Journal, JournalFull } from "../../../src/journal/port.ts";
import type { Dice } from "../dice.ts";
import type { Ledger } from "./ledger.ts";
import type { Life } from "./life.ts";

/** How likely each fault is, for each write. */
interface DiskRates {
  slow: number;
  full: number;
}

export const NO_DISK_FAULTS: DiskRates = { slow: 0, full: 0 };

/** The disk that all processes of a control plane write to, one after the other. */
export interface Disk {
  /** The journal as a process finds it. */
  open(life: Life): Journal;
  storm(rates: DiskRates): void;
}

const FULL: JournalFull = "no-space";
const LONGEST_WRITE_MS = 3_000;

interface DiskDeps {
  clock: Clock;
  dice: Dice;
  ledger: Ledger;
  count(kind: string): void;
}

export function createDisk({ clock, dice, ledger, count }: DiskDeps): Disk {
  const journal = createMemoryJournal();
  let rates = NO_DISK_FAULTS;
  const roll = (rate: number) => rate > 0 && dice.chance(rate);
  return {
    open: (life) => ({
      ...journal,
      shortage: undefined,
      async append(records) {
        await life.write(async () => {
          if (roll(rates.slow)) {
            count("disk slow");
            await sleep(clock, dice.between(1, LONGEST_WRITE_MS));
            // The process died meanwhile, and what it wrote had not come to the disk.
            if (life.isDead) return;
          }
          if (roll(rates.full)) {
            count("disk full");
            throw new CodedError(FULL, "no space left on device, by the simulator");
          }
          await journal.append(records);
          ledger.record(records);
        });
      },
    }),
    storm(next) {
      rates = next;
    },
  };
}
