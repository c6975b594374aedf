import type { Chance } from "../ports/chance.ts";

/** What chance and the clock gave in the attempts at one decision. */
export interface Tape {
  /** Runs an attempt: up to its first wait, chance and the clock give again what they gave to the attempts before. */
  play<T>(attempt: () => Promise<T>): Promise<T>;
}

/** Chance and a clock that can be made to repeat themselves. */
interface ReplayedChance extends Chance {
  record(): Tape;
}

/**
 * A decision that is made again, because it had to ask somebody first, makes the same object: the same uid, the same
 * generated name, the same address. Otherwise the answer that it waited for would be about another object.
 */
export function createReplayedChance(source: Chance): ReplayedChance {
  let playing: Chance = source;
  return {
    number: () => playing.number(),
    uuid: () => playing.uuid(),
    now: () => playing.now(),
    record() {
      const number = createTrack(source.number);
      const uuid = createTrack(source.uuid);
      const now = createTrack(source.now);
      const recorded: Chance = { number: number.next, uuid: uuid.next, now: now.next };
      return {
        play(attempt) {
          for (const track of [number, uuid, now]) track.rewind();
          const before = playing;
          playing = recorded;
          try {
            // The attempt decides in this turn, and nothing else runs meanwhile.
            return attempt();
          } finally {
            playing = before;
          }
        },
      };
    },
  };
}

function createTrack<T>(make: () => T): { next(): T; rewind(): void } {
  const made: T[] = [];
  let position = 0;
  return {
    next() {
      const known = made[position];
      const value = known ?? make();
      made[position++] = value;
      return value;
    },
    rewind() {
      position = 0;
    },
  };
}
