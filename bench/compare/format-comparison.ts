import { formatRows, formatValue } from "../format-run.ts";
import { computeMedian } from "../stats.ts";
import { computeMedianRatio } from "./median-ratio.ts";
import type { PairedFigure } from "./pair-turns.ts";

/** With fewer turns an interval that leaves 1 out is nothing rare: it goes from the least to the most of them. */
const FEWEST_TURNS = 6;

const HEAD = ["", "turns", "this", "base", "ratio", "95 % interval", ""];

/** A line a figure: the medians of both builds, their ratio and how sure it is. */
export function formatComparison(figures: readonly PairedFigure[]): string {
  return formatRows([HEAD, ...figures.map(formatFigure)]);
}

function formatFigure({ case: of, name, unit, own, base }: PairedFigure): string[] {
  const { ratio, low, high } = computeMedianRatio(own, base);
  const isSure = own.length >= FEWEST_TURNS;
  const verdict = isSure && high < 1 ? "less" : isSure && low > 1 ? "MORE" : "";
  const medians = [own, base].map((values) => formatValue(computeMedian(values)));
  const interval = own.length === 1 ? "one turn" : `${low.toFixed(2)} to ${high.toFixed(2)}`;
  return [`${of}: ${name} (${unit})`, `${own.length}`, ...medians, ratio.toFixed(2), interval, verdict];
}
