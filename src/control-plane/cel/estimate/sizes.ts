/**
 * How large a text, list or map may be: in characters, items or entries. A value without a size counts as one of 1, and
 * Infinity is a size of which nothing is known.
 */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
}

/** What is declared of a value's size. */
export interface DeclaredSize {
  /** 0 for a value that has no size, as upstream counts it. */
  readonly max: number;
  /** The items of a list or the values of a map. */
  readonly items?: DeclaredSize | undefined;
  /** The keys of a map. */
  readonly keys?: DeclaredSize | undefined;
  /** The fields of an object, by their names in expressions. */
  readonly fields?: Pick<ReadonlyMap<string, DeclaredSize>, "get"> | undefined;
}

/** The size of a literal. */
export const fixed = (size: number): SizeRange => ({ min: size, max: size });
/** The size of which nothing is known. */
export const UNKNOWN: SizeRange = { min: 0, max: Number.POSITIVE_INFINITY };

/** The sizes of one value or the other. */
export function spanning(a: SizeRange, b: SizeRange): SizeRange {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

/** The sizes of both values one after the other. */
export function sum(a: SizeRange, b: SizeRange): SizeRange {
  return { min: a.min + b.min, max: a.max + b.max };
}

/** The product, which is 0 where one of the two is, even if the other is unknown. */
export function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}

/** What reading so many characters costs. */
export const reading = (size: number) => Math.ceil(size * 0.1);
/** What reading so many characters and writing as many costs. */
export const copying = (size: number) => Math.ceil(size * 0.2);
/** What matching a text of this size against a pattern costs. An empty text costs something, too. */
export const matchingSizes = (text: number, pattern: number) => times(reading(text + 1), Math.ceil(pattern * 0.25));
