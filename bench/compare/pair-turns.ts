import type { CaseRun } from "../case-run.ts";
import { fullNameOf, type Measure, type Unit } from "../measure.ts";
import type { CaseName } from "../options.ts";

/** A figure of two builds: a value of each for every turn that they had. */
export interface PairedFigure {
  case: CaseName;
  name: string;
  unit: Unit;
  own: readonly number[];
  base: readonly number[];
}

/** What both builds tell, in the order in which it was first told. */
export function pairTurns(runs: readonly CaseRun[], names: { own: string; base: string }): PairedFigure[] {
  const keyOf = (measure: Measure) => `${measure.case}: ${fullNameOf(measure)}`;
  const first = new Map<string, Measure>();
  for (const { measures } of runs) {
    for (const measure of measures) if (!first.has(keyOf(measure))) first.set(keyOf(measure), measure);
  }
  const turnsOf = (build: string, key: string) =>
    runs
      .filter((run) => run.build === build)
      .flatMap(({ measures }) => measures.filter((measure) => keyOf(measure) === key))
      .map(({ summary }) => summary.median);
  return [...first].flatMap(([key, measure]): PairedFigure[] => {
    const beside = measure.beside?.find(({ name }) => name === names.base);
    const own = beside === undefined ? turnsOf(names.own, key) : (measure.rounds ?? []);
    const base = beside === undefined ? turnsOf(names.base, key) : (beside.rounds ?? []);
    if (own.length !== base.length || own.length === 0) return [];
    return [{ case: measure.case, name: fullNameOf(measure), unit: measure.unit, own, base }];
  });
}
