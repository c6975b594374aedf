/** One thing that is measured again and again. */
export interface Series {
  readonly name: string;
  readonly unit: string;
  /** More than this, and more than a share of what there is, is growth; less is noise. */
  readonly slack: number;
  readonly samples: Sample[];
}

interface Sample {
  /** Seconds since the beginning. */
  readonly at: number;
  readonly value: number;
  /** Whose it is: a process that came in place of another begins anew. */
  readonly owner: string;
}

/** What the second half of a series says. */
interface Verdict {
  readonly first: number;
  readonly median: number;
  readonly last: number;
  /** What the fitted line gains over the second half. */
  readonly gain: number;
  readonly allowed: number;
  readonly isGrowing: boolean;
}

const SHARE = 0.15;
/** A line through fewer points says nothing. */
const LEAST_SAMPLES = 10;

/**
 * Fits a line to the second half of the series, of its last owner only: a leak goes on for ever, while what a start
 * fills is full by then. Undefined where there are too few samples.
 */
export function judgeGrowth({ samples, slack }: Pick<Series, "samples" | "slack">): Verdict | undefined {
  const end = samples.at(-1);
  if (end === undefined) return undefined;
  const half = samples.filter(({ at, owner }) => at >= end.at / 2 && owner === end.owner);
  const [begin] = half;
  if (begin === undefined || half.length < LEAST_SAMPLES) return undefined;
  const sorted = half.map(({ value }) => value).toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const gain = slopeOf(half) * (end.at - begin.at);
  const allowed = Math.max(slack, SHARE * median);
  const first = samples[0]?.value ?? 0;
  return { first, median, last: end.value, gain, allowed, isGrowing: gain > allowed };
}

/** The slope by Theil and Sen, which a few strange samples do not turn: the median of the slopes of all pairs. */
function slopeOf(samples: readonly Sample[]): number {
  const slopes = samples.flatMap((from, index) =>
    samples.slice(index + 1).flatMap((to) => (to.at > from.at ? [(to.value - from.value) / (to.at - from.at)] : [])),
  );
  slopes.sort((a, b) => a - b);
  return slopes[Math.floor(slopes.length / 2)] ?? 0;
}
