import type { PriorityLevel } from "./flow-objects.ts";
import type { FlowEntry } from "./flow-request.ts";
import { computeSeatLimits, createSeats, type SeatLimits } from "./seats.ts";

/** The seats that requests take, and the turns of those whose answers are long. */
export interface Room {
  tryTake(entry: FlowEntry): boolean;
  /** Whether the level has the seats, be there a turn or not. */
  hasSeats(entry: FlowEntry): boolean;
  give(entry: FlowEntry): void;
  limits(): ReadonlyMap<string, SeatLimits>;
  /** Divides the seats anew: a level has changed. */
  divide(): void;
}

/** As many as upstream's defaults allow: 400 requests that read, and 200 that write. */
const TOTAL_SEATS = 600;
/**
 * Long answers are made and sent by one processor, so that more of them at a time end no sooner: each would only wait for
 * all others, and so would whatever is small. Some at a time keep their clients busy.
 */
const LONG_AT_A_TIME = 4;

/** Small requests have seats of their own, so that none of them waits for a long one. */
export function createRoom(levels: () => Iterable<PriorityLevel>): Room {
  let divided: ReadonlyMap<string, SeatLimits> | undefined;
  const limits = () => {
    divided ??= computeSeatLimits(levels(), TOTAL_SEATS);
    return divided;
  };
  const small = createSeats(limits, TOTAL_SEATS);
  const long = createSeats(limits, TOTAL_SEATS);
  const seatsOf = ({ isLong }: FlowEntry) => (isLong ? long : small);
  let turns = 0;
  return {
    tryTake(entry) {
      const { flow, seats, isLong } = entry;
      if (isLong && turns >= LONG_AT_A_TIME) return false;
      if (!seatsOf(entry).tryTake(flow.level.name, seats)) return false;
      if (isLong) turns++;
      return true;
    },
    hasSeats: (entry) => seatsOf(entry).hasRoom(entry.flow.level.name, entry.seats),
    give(entry) {
      seatsOf(entry).give(entry.flow.level.name, entry.seats);
      if (entry.isLong) turns--;
    },
    limits,
    divide() {
      divided = undefined;
    },
  };
}
