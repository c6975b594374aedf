import type { Build } from "./build.ts";
import type { Measure } from "./measure.ts";
import type { Sizes } from "./sizes.ts";

/** What a case measured of one build, in one round. */
export interface CaseRun {
  build: string;
  measures: readonly Measure[];
}

/** What the cases of one kind measured, and on what. */
export interface CaseRuns {
  runs: readonly CaseRun[];
  runtimes: readonly string[];
}

/** The builds that are measured: nodelet, and the one that it is compared with. */
export type Builds = readonly [Build, ...Build[]];

/** How the cases are run. */
export interface RunOptions {
  builds: Builds;
  /** How often each case is run for each build, in turns; once where there is one build. */
  rounds: number;
  sizes: Sizes;
}

/** What all cases are given by whoever runs them. */
export interface RunTools {
  signal: AbortSignal;
  /** Says how far it is. */
  progress(text: string): void;
  /** Is told of each case that fails, and the others are run. Undefined where the first failure ends the run. */
  onFailure?: (message: string) => void;
}

export const NO_RUNS: CaseRuns = { runs: [], runtimes: [] };
