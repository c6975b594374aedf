import type { Random } from "../../src/base/random.ts";

/** A place is this many lines: changes of a whole condition or call fit in. */
const LINES = 6;

interface ChooseDeps {
  read(file: string): string;
  readonly random: Random;
  /** How many places. */
  readonly count: number;
}

/** Chooses places in the files, each line of code being as likely as any other: `file:first-last` of the tester. */
export function chooseRanges(files: readonly string[], { read, random, count }: ChooseDeps): string[] {
  const starts = files.flatMap((file) => listCodeLines(read(file)).map((line) => ({ file, line })));
  const chosen = new Set<string>();
  while (chosen.size < Math.min(count, starts.length)) {
    const start = starts[Math.floor(random.next() * starts.length)];
    if (start !== undefined) chosen.add(`${start.file}:${start.line}-${start.line + LINES - 1}`);
  }
  return [...chosen];
}

function listCodeLines(text: string): number[] {
  return text
    .split("\n")
    .flatMap((line, index) => (/^\s*(import|export type|\/?\*|\/\/|[{}()[\];,]*$)/.test(line) ? [] : [index + 1]));
}
