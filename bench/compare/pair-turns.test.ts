import { describe, expect, it } from "vitest";
import type { CaseRun } from "../case-run.ts";
import { type Measure, timed } from "../measure.ts";
import { summarize } from "../stats.ts";
import { pairTurns } from "./pair-turns.ts";

const run = (build: string, ...measures: Measure[]): CaseRun => ({ build, measures });
const taken = (...values: number[]) => timed({ case: "single", name: "start" }, values);
const NAMES = { own: "nodelet", base: "base" };

describe("pairTurns", () => {
  it("takes the median of each turn of a case that is run for one build after the other", () => {
    const runs = [
      run("nodelet", taken(1, 2, 9)),
      run("base", taken(4)),
      run("base", taken(6)),
      run("nodelet", taken(3)),
    ];
    expect(pairTurns(runs, NAMES)).toEqual([{ case: "single", name: "start", unit: "ms", own: [2, 3], base: [4, 6] }]);
  });

  it("takes the rounds of a case that has both builds", () => {
    const beside = [{ name: "base", summary: summarize([4, 5]), rounds: [4, 5] }];
    const measure: Measure = { ...taken(1, 2), rounds: [1, 2], beside };
    expect(pairTurns([run("nodelet", measure)], NAMES)).toMatchObject([{ own: [1, 2], base: [4, 5] }]);
  });

  it("leaves out what one build does not tell", () => {
    const calls = timed({ case: "single", name: "calls" }, [1]);
    expect(pairTurns([run("nodelet", taken(1), calls), run("base", taken(2))], NAMES)).toHaveLength(1);
    expect(pairTurns([run("nodelet", { ...taken(1), rounds: [1], beside: [] })], NAMES)).toEqual([]);
  });

  it("keeps figures of several cases and points apart", () => {
    const at = (value: number) => ({ ...taken(1), at: { of: "pods", value } });
    const pairs = pairTurns([run("nodelet", at(10), at(20)), run("base", at(10), at(20))], NAMES);
    expect(pairs.map(({ name }) => name)).toEqual(["start, 10 pods", "start, 20 pods"]);
  });
});
