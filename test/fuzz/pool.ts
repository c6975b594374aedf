import type { Dice } from "../sim/dice.ts";

/** The inputs from which others are made: the corpus, and what reached something new. */
interface Pool {
  add(input: Buffer): void;
  /** One of them, newer and shorter ones by preference. */
  choose(): Buffer;
  readonly inputs: readonly Buffer[];
}

/** Beyond it an older one makes room. */
const MAX_INPUTS = 2_000;
const NEWEST = 24;

export function createPool(dice: Dice, first: readonly Buffer[]): Pool {
  const inputs = first.length > 0 ? [...first] : [Buffer.alloc(0)];
  const any = () => inputs[dice.whole(0, inputs.length - 1)] ?? Buffer.alloc(0);
  return {
    inputs,
    add(input) {
      // A copy: a slice would keep the whole of what it was cut from.
      if (inputs.length >= MAX_INPUTS) inputs.splice(dice.whole(0, inputs.length - 1), 1);
      inputs.push(Buffer.from(input));
    },
    choose() {
      if (dice.chance(0.4)) return inputs[dice.whole(Math.max(0, inputs.length - NEWEST), inputs.length - 1)] ?? any();
      const [one, other] = [any(), any()];
      return one.length <= other.length ? one : other;
    },
  };
}
