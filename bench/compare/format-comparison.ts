import { formatRows, formatValue } from "../report.ts";
import { computeMedian } from "../stats.ts";
import { computeMedianRatio } from "./median-ratio.ts";
import type { PairedFigure } from "./pair-turns.ts";

const HEAD = ["", "turns", "this", "base", "ratio", "95 % interval", ""];

/** A line a figure: the medians of both builds, their ratio and how sure it is. */
export function formatComparison(figures: readonly PairedFigure[]): string {
  return formatRows([HEAD, ...figures.map(formatFigure)]);
}

function formatFigure({ case: of, name, unit, own, base }: PairedFigure): string[] {
  const { ratio, low, high } = computeMedianRatio(own, base);
  const verdict = high < 1 ? "less" : low > 1 ? "MORE" : "";
  const medians = [own, base].map((values) => formatValue(computeMedian(values)));
  const interval = own.length === 1 ? "one turn" : `${low.toFixed(2)} to ${high.toFixed(2)}`;
  return [
    `${of}: ${name} (${unit})`,
    `${own.length}`,
    ...medians,
    ratio.toFixed(2),
    interval,
    own.length === 1 ? "" : verdict,
  ];
}
