/** A part of a pattern that a repetition after it may multiply. */
interface Sizes {
  /** Everything before the last atom. */
  before: number;
  /** The last atom: a character, a class or a group. */
  atom: number;
}

const REPETITION = /\{(\d+)(?:,(\d*))?\}/y;
const ESCAPE = /\\(?:[pP]\{[^}]*\}|[pP]?.)?/suy;
const CLASS = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]?/suy;

/**
 * How many states the program of a pattern would have, roughly, without making it: a repetition (`x{1,100}`) stands for
 * as many copies of what it repeats, and those in groups multiply. It looks at the text alone, which need not be a valid
 * pattern.
 */
export function estimatePatternSize(pattern: string): number {
  const outer: Sizes[] = [];
  let sizes: Sizes = { before: 0, atom: 0 };
  const append = (size: number) => {
    sizes.before += sizes.atom;
    sizes.atom = size;
  };
  for (let position = 0; position < pattern.length; ) {
    const repetition = matchAt(REPETITION, pattern, position);
    if (repetition) {
      const [text, least = "", most = least] = repetition;
      sizes.atom *= Math.max(Number(least), Number(most), 1);
      position += text.length;
      continue;
    }
    const skipped = (matchAt(ESCAPE, pattern, position) ?? matchAt(CLASS, pattern, position))?.[0];
    const character = pattern[position] ?? "";
    if (skipped === undefined && character === "(") {
      outer.push(sizes);
      sizes = { before: 0, atom: 0 };
    } else if (skipped === undefined && character === ")") {
      const group = sizes.before + sizes.atom + 2;
      sizes = outer.pop() ?? sizes;
      append(group);
    } else append(1);
    position += skipped?.length ?? 1;
  }
  return [...outer, sizes].reduce((sum, { before, atom }) => sum + before + atom, 0);
}

function matchAt(expression: RegExp, text: string, position: number): RegExpExecArray | null {
  expression.lastIndex = position;
  return expression.exec(text);
}
