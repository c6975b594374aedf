/** Completion indexes as they stand in a status: sorted intervals with a gap between each two. */
export type IndexIntervals = readonly IndexInterval[];

interface IndexInterval {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads indexes like `1,3-5,7`. What lies at or above the number of completions is left out, because the job may have
 * shrunk since. A part that cannot be read is left out too.
 */
export function parseIndexes(text: string, completions: number): IndexIntervals {
  const intervals = text.split(",").flatMap((part) => {
    const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    const [first, last] = [Number(from), Math.min(Number(to), completions - 1)];
    return first <= last ? [{ first, last }] : [];
  });
  return mergeIntervals(intervals);
}

/** The intervals of single indexes, in any order and with repetitions. */
export function intervalsOf(indexes: Iterable<number>): IndexIntervals {
  return mergeIntervals([...indexes].map((index) => ({ first: index, last: index })));
}

/** Everything that is in one of the two. */
export function uniteIndexes(one: IndexIntervals, other: IndexIntervals): IndexIntervals {
  return mergeIntervals([...one, ...other]);
}

function mergeIntervals(intervals: IndexIntervals): IndexIntervals {
  const merged: IndexInterval[] = [];
  for (const { first, last } of intervals.toSorted((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before === undefined || first > before.last + 1) merged.push({ first, last });
    else merged[merged.length - 1] = { first: before.first, last: Math.max(before.last, last) };
  }
  return merged;
}

/** The form in a status: `1,3-5`. Two indexes in a row are written apart. */
export function formatIndexes(intervals: IndexIntervals): string {
  return intervals
    .map(({ first, last }) => (first === last ? `${first}` : `${first}${last === first + 1 ? "," : "-"}${last}`))
    .join(",");
}

/** How many indexes there are in all intervals. */
export function countIndexes(intervals: IndexIntervals): number {
  return intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

/** True when the index is in one of the intervals; looks by halves, because a job may have 100,000 indexes. */
export function hasIndex(intervals: IndexIntervals, index: number): boolean {
  let [low, high] = [0, intervals.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((intervals[middle]?.last ?? index) >= index) high = middle;
    else low = middle + 1;
  }
  return (intervals[low]?.first ?? Number.POSITIVE_INFINITY) <= index;
}

/** How many indexes are in both. */
export function countCommonIndexes(one: IndexIntervals, other: IndexIntervals): number {
  let common = 0;
  for (let i = 0, j = 0; ; ) {
    const [a, b] = [one[i], other[j]];
    if (a === undefined || b === undefined) return common;
    common += Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1);
    if (a.last <= b.last) i += 1;
    if (b.last <= a.last) j += 1;
  }
}

/** The lowest indexes below the number of completions that are not taken, as many as are wanted. */
export function firstFreeIndexes(taken: IndexIntervals, completions: number, wanted: number): number[] {
  const free: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...taken, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && free.length < wanted; candidate++) free.push(candidate);
    candidate = Math.max(candidate, last + 1);
  }
  return free;
}
