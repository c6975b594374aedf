import { type Circumstances, describeCircumstances } from "./circumstances.ts";
import { computeRatio, fullNameOf, isMet, type Measure, type Target } from "./measure.ts";

const HEAD = ["", "n", "median", "p99", "floor", "floor p99", "ratio", "ratio p99", "target", "met"];

export function formatTable(measures: readonly Measure[], circumstances: Circumstances): string {
  const rows = [HEAD, ...measures.flatMap((measure) => [formatRow(measure), ...formatBeside(measure)])];
  return [describeCircumstances(circumstances), "", formatRows(rows)].join("\n");
}

/** Columns of equal width; all but the first are numbers. */
export function formatRows(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const format = (row: readonly string[]) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)));
  return rows.map((row) => format(row).join("  ").trimEnd()).join("\n");
}

/** The same on one line, for scripts; figures are rounded to a thousandth. */
export function formatJson(measures: readonly Measure[], circumstances: Circumstances): string {
  const results = measures.map((measure) => ({
    ...measure,
    ...(measure.floor && { ratio: computeRatio(measure.summary, measure.floor) }),
    ...(measure.beside && {
      beside: measure.beside.map((other) => ({ ...other, ratio: computeRatio(measure.summary, other.summary) })),
    }),
    ...(measure.target && { met: isMet(measure) }),
  }));
  return JSON.stringify({ ...circumstances, measures: results }, roundFigures);
}

/** For JSON: what is read by nobody is left out. */
export function roundFigures(key: string, value: unknown): unknown {
  if (key === "rounds") return undefined;
  return typeof value === "number" ? Math.round(value * 1_000) / 1_000 : value;
}

function formatRow(measure: Measure): string[] {
  const { unit, summary, floor, target } = measure;
  const ratio = computeRatio(summary, floor);
  const met = isMet(measure);
  return [
    `${measure.case}: ${fullNameOf(measure)} (${unit})`,
    String(summary.samples),
    formatValue(summary.median),
    formatValue(summary.p99),
    floor === undefined ? "" : formatValue(floor.median),
    floor === undefined ? "" : formatValue(floor.p99),
    ratio === undefined ? "" : ratio.median.toFixed(2),
    ratio === undefined ? "" : ratio.p99.toFixed(2),
    target === undefined ? "" : formatTarget(target),
    met === undefined ? "" : met ? "yes" : "NO",
  ];
}

/** What stands beside it, each on a line with the measure's ratio to it. */
function formatBeside({ summary, beside = [] }: Measure): string[][] {
  return beside.map((other) => {
    const ratio = computeRatio(summary, other.summary);
    const ratios = ratio === undefined ? ["", ""] : [ratio.median.toFixed(2), ratio.p99.toFixed(2)];
    const { samples, median, p99 } = other.summary;
    return [`  ${other.name}`, String(samples), formatValue(median), formatValue(p99), "", "", ...ratios, "", ""];
  });
}

/** With as many digits as are worth reading. */
export function formatValue(value: number): string {
  return value.toFixed(value < 1 ? 2 : value < 100 ? 1 : 0);
}

/** In words. */
export function formatTarget({ of, median, p99 }: Target): string {
  const bounds = [median === undefined ? "" : `median ${median}`, p99 === undefined ? "" : `p99 ${p99}`];
  const kinds = { value: "", ratio: "ratio ", kubelet: "of the Go kubelet " };
  return `${kinds[of]}${bounds.filter((bound) => bound !== "").join(", ")}`;
}
