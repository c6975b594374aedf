import type { Random } from "../../src/base/random.ts";

/** Choices from one seeded stream. */
export interface Dice {
  chance(probability: number): boolean;
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  between(low: number, high: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** Undefined for an empty list. */
  pickAny<T>(items: readonly T[]): T | undefined;
}

export function createDice(random: Random): Dice {
  const whole = (low: number, high: number) => low + Math.floor(random.next() * (high - low + 1));
  return {
    chance: (probability) => random.next() < probability,
    whole,
    between: (low, high) => low + random.next() * (high - low),
    pick: (items) => items[whole(0, items.length - 1)] ?? items[0],
    pickAny: (items) => items[whole(0, items.length - 1)],
  };
}
