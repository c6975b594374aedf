import type { Rule, Source, Violation } from "../source.ts";

/** Lines. */
export const FILE_LIMIT = 500;
export const MEDIAN_LIMIT = 150;
/** Nine files of ten are shorter. */
export const MOST_LIMIT = 250;
/** Below this many files a share says nothing. */
const ENOUGH_FILES = 20;
const LONGEST_SHOWN = 10;

/** No long file, and most of them short: a file is one concept. */
export const fileLength: Rule = {
  name: "file-length",
  check({ sources }) {
    const tooLong = sources
      .filter(({ lineCount }) => lineCount > FILE_LIMIT)
      .map(({ path, lineCount }) => ({ file: path, line: 1, message: `${lineCount} lines; at most ${FILE_LIMIT}` }));
    return [...tooLong, ...checkSpread(sources)];
  },
};

function checkSpread(sources: readonly Source[]): Violation[] {
  const product = sources.filter(({ path, isTest }) => path.startsWith("src/") && !isTest);
  if (product.length < ENOUGH_FILES) return [];
  const longestFirst = [...product].sort((a, b) => b.lineCount - a.lineCount);
  const longest = longestFirst.slice(0, LONGEST_SHOWN).map(({ path, lineCount }) => `${path} ${lineCount}`);
  const check = (share: number, limit: number, what: string): Violation[] => {
    const lines = longestFirst[Math.floor(longestFirst.length * (1 - share))]?.lineCount ?? 0;
    if (lines <= limit) return [];
    return [{ file: "src", line: 1, message: `${what} has ${lines} lines; at most ${limit}. ${longest.join(", ")}` }];
  };
  return [...check(0.5, MEDIAN_LIMIT, "the median file"), ...check(0.9, MOST_LIMIT, "the longest tenth of files")];
}
