import { judgeGrowth, type Series } from "./growth.ts";

/** Prints a table of all series, and returns the names of those that grow, or that nothing can be said of. */
export function reportGrowth(all: readonly Series[]): string[] {
  const rows = all.map((series) => ({ series, verdict: judgeGrowth(series) }));
  const lines = rows.map(({ series: { name, unit, samples }, verdict }) => {
    if (samples.length === 0) return [name, unit, "", "", "", "", "", "cannot be counted here"];
    if (verdict === undefined) return [name, unit, "", "", "", "", "", `TOO FEW SAMPLES (${samples.length})`];
    const { first, median, last, gain, allowed, isGrowing } = verdict;
    return [name, unit, ...[first, median, last, gain, allowed].map(round), isGrowing ? "GROWS" : "flat"];
  });
  const table = [["what", "unit", "first", "median", "last", "gain", "allowed", "verdict"], ...lines];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  const isFlat = ({ series, verdict }: (typeof rows)[number]) =>
    series.samples.length === 0 || verdict?.isGrowing === false;
  return rows.filter((row) => !isFlat(row)).map(({ series }) => series.name);
}

function round(value: number): string {
  return value.toFixed(Math.abs(value) < 100 && !Number.isInteger(value) ? 1 : 0);
}
