import type { Circumstances } from "../circumstances.ts";
import { roundFigures } from "../format-run.ts";
import type { Measure } from "../measure.ts";

/** All that a run told. */
export interface Run {
  circumstances: Circumstances;
  measures: readonly Measure[];
}

/** Lines of JSON: the circumstances, then the measures, so that a difference between two runs names the measure. */
export function formatRunFile({ circumstances, measures }: Run): string {
  return [circumstances, ...measures].map((line) => `${JSON.stringify(line, roundFigures)}\n`).join("");
}

/** Reads what `formatRunFile` wrote, and nothing else. */
export function parseRunFile(text: string): Run {
  const [first, ...rest] = text.split("\n").filter((line) => line !== "");
  if (first === undefined) throw new Error("there is no run in the file");
  const circumstances: Circumstances = JSON.parse(first);
  return { circumstances, measures: rest.map((line): Measure => JSON.parse(line)) };
}
