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
  return { samples: sorted.length, median: medianOf(sorted), p99: rank(sorted, Math.ceil(sorted.length * 0.99)) };
}

/** Throws for no values. */
export function computeMedian(values: readonly number[]): number {
  return medianOf(values.toSorted((a, b) => a - b));
}

/** The median of each of so many parts of the same length, in their order. */
export function computeMedians(values: readonly number[], parts: number): number[] {
  const length = values.length / parts;
  return Array.from({ length: parts }, (_, part) => computeMedian(values.slice(part * length, (part + 1) * length)));
}

function medianOf(sorted: readonly number[]): number {
  const half = sorted.length / 2;
  return (rank(sorted, Math.ceil(half)) + rank(sorted, Math.floor(half) + 1)) / 2;
}

/** Counted from 1. */
function rank(sorted: readonly number[], position: number): number {
  const value = sorted[position - 1];
  if (value === undefined) throw new Error("no samples");
  return value;
}
