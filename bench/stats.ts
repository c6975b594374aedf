/** What is kept of a series of samples, all in the unit of the samples. */
export interface Summary {
  samples: number;
  median: number;
  /** Nearest rank: with fewer than a hundred samples this is the largest. */
  p99: number;
}

/** Throws for an empty series, which is a fault of the case that measured it. */
export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  return { samples: sorted.length, median: computeMedian(sorted), p99: rank(sorted, Math.ceil(sorted.length * 0.99)) };
}

function computeMedian(sorted: readonly number[]): number {
  const half = sorted.length / 2;
  return (rank(sorted, Math.ceil(half)) + rank(sorted, Math.floor(half) + 1)) / 2;
}

/** Counted from 1. */
function rank(sorted: readonly number[], position: number): number {
  const value = sorted[position - 1];
  if (value === undefined) throw new Error("no samples");
  return value;
}
