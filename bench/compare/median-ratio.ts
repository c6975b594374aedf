import { createSeededRandom } from "../../src/base/random.ts";
import { computeMedian } from "../stats.ts";

/** A ratio of two medians, with the ends of its 95 % confidence interval. */
interface MedianRatio {
  ratio: number;
  low: number;
  high: number;
}

const RESAMPLES = 2_000;
const SEED = 1;
const OUTSIDE = 0.05;

/**
 * The ratio of the medians of values that were taken in turns, `own` to `base`, one of each a turn. The interval is a
 * percentile bootstrap: turns are drawn with replacement, both values of a turn together, because what slows the machine
 * slows both. The same values give the same interval. Throws for no turns, and where a turn lacks one of the two.
 */
export function computeMedianRatio(
  own: readonly number[],
  base: readonly number[],
  { resamples = RESAMPLES }: { resamples?: number } = {},
): MedianRatio {
  if (own.length !== base.length) throw new Error(`${own.length} turns and ${base.length} cannot be compared`);
  if (own.length === 0) throw new Error("no turns");
  const random = createSeededRandom(SEED);
  const ratios = Array.from({ length: resamples }, () => {
    const turns = own.map(() => Math.floor(random.next() * own.length));
    return ratioOfMedians(drawn(own, turns), drawn(base, turns));
  }).sort((a, b) => a - b);
  return {
    ratio: ratioOfMedians(own, base),
    low: quantile(ratios, OUTSIDE / 2),
    high: quantile(ratios, 1 - OUTSIDE / 2),
  };
}

function drawn(values: readonly number[], turns: readonly number[]): number[] {
  return turns.map((turn) => values[turn] ?? Number.NaN);
}

/** 1 where both are nothing: that is no change. */
function ratioOfMedians(own: readonly number[], base: readonly number[]): number {
  const [ours, theirs] = [computeMedian(own), computeMedian(base)];
  return ours === theirs ? 1 : ours / theirs;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
