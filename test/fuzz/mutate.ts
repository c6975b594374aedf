import type { Random } from "../../src/base/random.ts";
import { createDice, type Dice } from "../sim/dice.ts";

/** Makes new inputs of old ones. */
interface Mutator {
  /** A changed copy of `base`; `other` is another input, from which parts may come. */
  mutate(base: Buffer, other: Buffer): Buffer;
}

interface MutatorOptions {
  readonly words: readonly Buffer[];
  readonly maxBytes: number;
}

/** What one change is made with. */
interface Change {
  readonly bytes: Buffer;
  readonly other: Buffer;
  readonly dice: Dice;
  readonly options: MutatorOptions;
}

/** At most so many changes on top of each other: 1, 2, 4, 8 or 16. */
const MAX_STACK_POWER = 4;
/** One of so many inputs is blown up to nearly the longest: what is quadratic shows only there. */
const AMPLIFY_CHANCE = 0.02;
const EDGE_BYTES = [0, 1, 0x7f, 0x80, 0xfe, 0xff, 0x20, 0x22, 0x5c, 0x0a];
const EDGE_NUMBERS = [
  ...["0", "-0", "-1", "1", "127", "128", "255", "256", "32768", "65535", "65536", "2147483647", "2147483648"],
  ...["4294967295", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808"],
  ...["18446744073709551616", "-9223372036854775809", "1e308", "1e309", "1e-400", "0.1", "00", "0x10", "1e3"],
].map((text) => Buffer.from(text));
const EDGE_INTEGERS = [0n, 1n, 0x7fn, 0x80n, 0xffn, 0x7fffn, 0xffffn, 0x7fffffffn, 0x80000000n, 0xffffffffn];
const PAIRS = ["[]", "{}", "()", '""', "''"].map((pair) => [Buffer.from(pair.slice(0, 1)), Buffer.from(pair.slice(1))]);

/** The same numbers make the same inputs. */
export function createMutator(random: Random, options: MutatorOptions): Mutator {
  const dice = createDice(random);
  return {
    mutate(base, other) {
      let bytes = base;
      const count = 2 ** dice.whole(0, MAX_STACK_POWER);
      for (let index = 0; index < count; index++) {
        bytes = cut(dice.pick(CHANGES)({ bytes, other, dice, options }), options);
      }
      return dice.chance(AMPLIFY_CHANCE) ? cut(amplify({ bytes, other, dice, options }), options) : bytes;
    },
  };
}

const cut = (bytes: Buffer, { maxBytes }: MutatorOptions) => bytes.subarray(0, maxBytes);

const flipBit = ({ bytes, dice }: Change) => {
  return changed(bytes, dice, (copy, at) => {
    copy[at] = (copy[at] ?? 0) ^ (1 << dice.whole(0, 7));
  });
};

const setByte = ({ bytes, dice }: Change) => {
  return changed(bytes, dice, (copy, at) => {
    copy[at] = dice.chance(0.5) ? (dice.pickAny(EDGE_BYTES) ?? 0) : dice.whole(0, 255);
  });
};

/** A binary number of one, two, four or eight bytes, in either order, is one at the edge. */
const setInteger = ({ bytes, dice }: Change) => {
  const size = 2 ** dice.whole(0, 3);
  if (bytes.length < size) return bytes;
  const copy = Buffer.from(bytes);
  const at = dice.whole(0, bytes.length - size);
  const number = BigInt.asUintN(size * 8, (dice.pickAny(EDGE_INTEGERS) ?? 0n) - (dice.chance(0.3) ? 1n : 0n));
  const hex = number.toString(16).padStart(size * 2, "0");
  const written = Buffer.from(hex, "hex");
  (dice.chance(0.5) ? written : written.reverse()).copy(copy, at);
  return copy;
};

/** A number that is written in digits is one at the edge. */
const setDigits = ({ bytes, dice }: Change) => {
  if (bytes.length === 0) return bytes;
  const isDigit = (at: number) => (bytes[at] ?? 0) >= 0x30 && (bytes[at] ?? 0) <= 0x39;
  let start = dice.whole(0, bytes.length - 1);
  while (start < bytes.length && !isDigit(start)) start++;
  let end = start;
  while (isDigit(end)) end++;
  return end === start ? bytes : replaced(bytes, [start, end], dice.pickAny(EDGE_NUMBERS) ?? Buffer.alloc(0));
};

const insertNoise = ({ bytes, dice }: Change) => {
  const noise = Buffer.from(Array.from({ length: dice.whole(1, 8) }, () => dice.whole(0, 255)));
  return inserted(bytes, dice, noise);
};

const removeRange = ({ bytes, dice }: Change) => {
  const [start, end] = rangeOf(bytes, dice);
  return replaced(bytes, [start, end], Buffer.alloc(0));
};

const repeatRange = ({ bytes, dice }: Change) => {
  const [start, end] = rangeOf(bytes, dice);
  const part = bytes.subarray(start, end);
  return replaced(bytes, [end, end], Buffer.concat(Array.from({ length: dice.whole(1, 8) }, () => part)));
};

const moveRange = ({ bytes, dice }: Change) => {
  const [start, end] = rangeOf(bytes, dice);
  return inserted(bytes, dice, bytes.subarray(start, end));
};

const insertWord = ({ bytes, dice, options }: Change) => {
  return inserted(bytes, dice, dice.pickAny(options.words) ?? Buffer.alloc(0));
};

const replaceWithWord = ({ bytes, dice, options }: Change) => {
  return replaced(bytes, rangeOf(bytes, dice, 16), dice.pickAny(options.words) ?? Buffer.alloc(0));
};

const splice = ({ bytes, other, dice }: Change) => {
  const [start, end] = rangeOf(other, dice);
  return dice.chance(0.5)
    ? inserted(bytes, dice, other.subarray(start, end))
    : Buffer.concat([bytes.subarray(0, dice.whole(0, bytes.length)), other.subarray(dice.whole(0, other.length))]);
};

/** Puts brackets or quotes around a part, once or many times. */
const wrap = ({ bytes, dice }: Change) => {
  const [start, end] = rangeOf(bytes, dice);
  const [open = Buffer.alloc(0), close = Buffer.alloc(0)] = dice.pickAny(PAIRS) ?? [];
  const count = dice.chance(0.9) ? dice.whole(1, 3) : dice.whole(1, 400);
  const times = (part: Buffer) => Buffer.concat(Array.from({ length: count }, () => part));
  return replaced(bytes, [start, end], Buffer.concat([times(open), bytes.subarray(start, end), times(close)]));
};

const CHANGES = [
  ...[flipBit, setByte, setInteger, setDigits, insertNoise, removeRange, removeRange, repeatRange, moveRange],
  ...[insertWord, insertWord, replaceWithWord, replaceWithWord, splice, wrap],
] as const;

/** Repeats a part until the input is long, by preference a short part. */
function amplify({ bytes, dice, options: { maxBytes } }: Change): Buffer {
  if (bytes.length === 0) return bytes;
  const [start, end] = rangeOf(bytes, dice, dice.chance(0.7) ? 24 : bytes.length);
  const part = bytes.subarray(start, Math.max(end, start + 1));
  const room = Math.max(0, Math.floor(maxBytes * 2 ** -dice.between(0, 5)) - bytes.length);
  const count = Math.floor(room / part.length);
  return replaced(bytes, [start, start], Buffer.alloc(count * part.length, part));
}

/** A part of it; short ones are as likely as long ones. */
function rangeOf(bytes: Buffer, dice: Dice, longest = bytes.length): readonly [start: number, end: number] {
  const start = dice.whole(0, Math.max(0, bytes.length - 1));
  const most = Math.min(longest, bytes.length - start);
  const length = Math.floor(2 ** dice.between(0, Math.log2(most + 1)));
  return [start, Math.min(bytes.length, start + length)];
}

function changed(bytes: Buffer, dice: Dice, change: (copy: Buffer, at: number) => void): Buffer {
  if (bytes.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  change(copy, dice.whole(0, bytes.length - 1));
  return copy;
}

function inserted(bytes: Buffer, dice: Dice, part: Buffer): Buffer {
  const at = dice.whole(0, bytes.length);
  return replaced(bytes, [at, at], part);
}

function replaced(bytes: Buffer, [start, end]: readonly [start: number, end: number], part: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, start), part, bytes.subarray(end)]);
}
