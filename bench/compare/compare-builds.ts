import { buildOf } from "../build.ts";
import type { RunTools } from "../case-run.ts";
import { describeCircumstances } from "../circumstances.ts";
import type { BenchOptions } from "../options.ts";
import { runCases } from "../run-cases.ts";
import { buildBase } from "./base-build.ts";
import { formatComparison } from "./format-comparison.ts";
import { pairTurns } from "./pair-turns.ts";

const FOOTNOTE = `The interval is a bootstrap of the medians over the turns. Where it leaves 1 out, the last column says so; of twenty
figures that did not change, one will. The cases cluster-… and volumes-… have one API server, which is this tree's.`;

/** Builds a commit, lets it and this tree's build have turns within the cases, and returns the ratio of each figure. */
export async function compareBuilds(base: string, options: BenchOptions, tools: RunTools): Promise<string> {
  const { build, commit, remove } = await buildBase(base, tools);
  try {
    const own = buildOf(options.program);
    const { runs, circumstances } = await runCases({ ...options, builds: [own, build] }, tools);
    const figures = pairTurns(runs, { own: own.name, base: build.name });
    const head = `${describeCircumstances(circumstances)}\nthis tree beside ${commit.slice(0, 12)} (${base})`;
    return [head, "", formatComparison(figures), "", FOOTNOTE].join("\n");
  } finally {
    tools.progress("removing the other build");
    await remove();
  }
}
