import type { PriorityLevel } from "./flow-objects.ts";

/** How many seats a priority level has, is sure of, and has at most. */
export interface SeatLimits {
  readonly nominal: number;
  readonly lower: number;
  readonly upper: number;
}

/** Divides so many seats by the levels' shares, as `finishQueueSetReconfigsLocked` of upstream's `apf_controller.go`. */
export function computeSeatLimits(levels: Iterable<PriorityLevel>, total: number): ReadonlyMap<string, SeatLimits> {
  const all = [...levels];
  const sum = all.reduce((shares, level) => shares + level.shares, 0);
  return new Map(
    all.map(({ name, shares, lendablePercent, borrowingLimitPercent }) => {
      const nominal = sum === 0 ? 0 : Math.ceil((total * shares) / sum);
      const lendable = Math.round((nominal * lendablePercent) / 100);
      const borrowed =
        borrowingLimitPercent === undefined ? total : Math.round((nominal * borrowingLimitPercent) / 100);
      return [name, { nominal, lower: nominal - lendable, upper: nominal + borrowed }];
    }),
  );
}

/** The seats of all levels, and who has them. */
interface Seats {
  /** Gives a level so many seats; false where it has none left and may borrow none. */
  tryTake(level: string, seats: number): boolean;
  /** Whether `tryTake` would. */
  hasRoom(level: string, seats: number): boolean;
  give(level: string, seats: number): void;
}

/**
 * A level is sure of its lower limit. Beyond that it takes what no other level is sure of, for as long as the others leave
 * it: upstream divides that anew each ten seconds, by what was asked for.
 */
export function createSeats(limits: () => ReadonlyMap<string, SeatLimits>, total: number): Seats {
  const taken = new Map<string, number>();
  const takenBy = (level: string) => taken.get(level) ?? 0;

  const hasRoom = (level: string, seats: number) => {
    const own = limits().get(level);
    // Its object is gone: requests that were classified before are let in.
    if (own === undefined) return true;
    const wanted = takenBy(level) + seats;
    if (wanted <= own.lower) return true;
    if (wanted > own.upper) return false;
    let others = 0;
    for (const [name, { lower }] of limits()) if (name !== level) others += Math.max(lower, takenBy(name));
    return wanted + others <= total;
  };

  return {
    hasRoom,
    tryTake(level, seats) {
      if (!hasRoom(level, seats)) return false;
      taken.set(level, takenBy(level) + seats);
      return true;
    },
    give(level, seats) {
      const left = takenBy(level) - seats;
      if (left > 0) taken.set(level, left);
      else taken.delete(level);
    },
  };
}
