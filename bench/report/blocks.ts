import { describeCircumstances } from "../circumstances.ts";
import { formatTarget, formatValue } from "../format-run.ts";
import { computeRatio, findGoPrograms, fullNameOf, isMet, type Measure } from "../measure.ts";
import type { Summary } from "../stats.ts";
import { type Curve, collectCurves } from "./curves.ts";
import { drawCurves } from "./draw-curves.ts";
import { formatMarkdownTable } from "./markdown-table.ts";
import type { Run } from "./run-file.ts";

/** What stands in the page for a place of the template: text, and perhaps a picture that the text shows. */
interface Block {
  text: string;
  picture?: { file: string; svg: string };
}

/** Makes a block of a run; its words are what stands behind the name in the template. */
type MakeBlock = (run: Run, words: readonly string[]) => Block;

/** Measures by the names of their cases, and `*` behind one for all that begin so. */
const isOf = (names: readonly string[]) => (measure: Measure) =>
  names.some((name) => (name.endsWith("*") ? measure.case.startsWith(name.slice(0, -1)) : measure.case === name));

const isPlain = ({ at, name }: Measure) => at === undefined && !CALLS.test(name);
const CALLS = /^(runtime calls|file system calls), (\S+)$/;
const NOTHING: Block = { text: "This run did not measure it." };

/** The blocks of the template, by their names. */
export const BLOCKS: Readonly<Record<string, MakeBlock>> = {
  circumstances: ({ circumstances }) => {
    const { date, minutes, isQuick, failures = [] } = circumstances;
    const text = `${date}, ${Math.round(minutes)} minutes: ${describeCircumstances(circumstances)}.${failures.map((failure) => ` Not measured, for it failed: ${failure}.`).join("")}`;
    return {
      text: isQuick ? `**Few samples (\`--quick\`): they say that it works, not how fast it is.** ${text}` : text,
    };
  },
  /** Whatever has a target. */
  targets: ({ measures }) =>
    tableOf(measures.filter(({ target }) => target !== undefined).map(formatTargetRow), TARGETS),
  /** The other figures of these cases. */
  figures: ({ measures }, names) => {
    const rest = measures.filter((measure) => measure.target === undefined && isPlain(measure));
    return tableOf(rest.filter(isOf(names)).map(formatFigureRow), FIGURES);
  },
  calls: ({ measures }, names) => tableOf(countCalls(measures, names), ["call", ...names]),
  /** The first word is the file of the picture; the rest are cases. */
  growth: ({ measures }, [file = "", ...names]) => {
    const curves = collectCurves(measures.filter(isOf(names)));
    if (curves.length === 0) return NOTHING;
    const title = `How cost grows: ${names.join(", ")}`;
    const table = formatMarkdownTable([GROWTH, ...curves.map(formatCurveRow)]);
    return { text: `![${title}](${file})\n\n${table}`, picture: { file, svg: drawCurves(title, curves) } };
  },
};

const FIGURES = ["", "n", "nodelet, median; p99", "floor", "to the floor", "beside"];
const TARGETS = [
  "",
  "n",
  "nodelet, median; p99",
  "floor",
  "to the floor",
  "in Go",
  "to it",
  "to be reached",
  "reached",
];
const GROWTH = ["", "of", "from", "to", "exponent"];

function tableOf(rows: readonly string[][], head: string[]): Block {
  return rows.length === 0 ? NOTHING : { text: formatMarkdownTable([head, ...rows]) };
}

function formatTargetRow(measure: Measure): string[] {
  const { summary, floor, target } = measure;
  const upstream = findGoPrograms(measure)?.summary;
  const met = isMet(measure);
  return [
    `${measure.case}: ${fullNameOf(measure)} (${measure.unit})`,
    `${summary.samples}`,
    formatSummary(summary),
    formatSummary(floor),
    formatRatio(summary, floor),
    formatSummary(upstream),
    formatRatio(summary, upstream),
    target === undefined ? "" : formatTarget(target),
    met === undefined ? "not compared" : met ? "yes" : "**no**",
  ];
}

function formatFigureRow(measure: Measure): string[] {
  const { summary, floor, beside = [] } = measure;
  const others = beside.map((other) => `${other.name} ${formatSummary(other.summary)}`);
  return [
    `${measure.case}: ${fullNameOf(measure)} (${measure.unit})`,
    `${summary.samples}`,
    formatSummary(summary),
    formatSummary(floor),
    formatRatio(summary, floor),
    others.join(", "),
  ];
}

function formatCurveRow({ case: from, name, unit, of, points, exponent }: Curve): string[] {
  const end = (point: { x: number; y: number } | undefined) =>
    point === undefined ? "" : `${formatValue(point.y)} at ${point.x.toLocaleString("en-US")}`;
  return [`${from}: ${name} (${unit})`, of, end(points[0]), end(points.at(-1)), exponent?.toFixed(2) ?? ""];
}

/** A row a call, a column a case, and the sum. Calls that are made less than once at the median are left out. */
function countCalls(measures: readonly Measure[], names: readonly string[]): string[][] {
  const counts = measures.flatMap((measure) => {
    const [, , call] = CALLS.exec(measure.name) ?? [];
    return call === undefined || measure.summary.median < 1
      ? []
      : [{ call, of: measure.case, count: measure.summary.median }];
  });
  const isAsked = ({ of }: { of: string }) => names.includes(of);
  const calls = [...new Set(counts.filter(isAsked).map(({ call }) => call))];
  const count = (call: string, name: string) => counts.find((of) => of.call === call && of.of === name)?.count;
  return calls.map((call) => [call, ...names.map((name) => count(call, name)?.toString() ?? "")]);
}

function formatSummary(summary: Summary | undefined): string {
  if (summary === undefined) return "";
  const { samples, median, p99 } = summary;
  return samples === 1 ? formatValue(median) : `${formatValue(median)}; ${formatValue(p99)}`;
}

function formatRatio(summary: Summary, other: Summary | undefined): string {
  const ratio = computeRatio(summary, other);
  if (ratio === undefined) return "";
  return summary.samples === 1 ? ratio.median.toFixed(2) : `${ratio.median.toFixed(2)}; ${ratio.p99.toFixed(2)}`;
}
