import { type Beside, type Measure, type Target, timed, type Unit } from "../measure.ts";
import type { Sizes } from "../sizes.ts";
import { summarize } from "../stats.ts";
import type { ApiProgram } from "./api-server.ts";

/** What a case of the control plane works with. */
export interface ApiCaseContext {
  /** nodelet, and upstream's where it is at hand: both do the same. */
  programs: readonly ApiProgram[];
  /** A new directory on the disk that is measured; removed with the run. */
  makeDirectory(): Promise<string>;
  sizes: Sizes;
  signal: AbortSignal;
  /** Says how far it is. */
  progress(text: string): void;
}

export type ApiCase = (context: ApiCaseContext) => Promise<Measure[]>;

interface Compared extends Pick<Measure, "case" | "name"> {
  unit?: Unit;
  target?: Target;
  /** The values of each program, in the order of the programs; nodelet's is the measure. */
  values: ReadonlyArray<readonly number[]>;
  floors?: readonly Beside[];
}

/** nodelet's values, with the floors and upstream's beside them. */
export function compare({ programs }: ApiCaseContext, of: Compared): Measure {
  const { values, floors = [], unit = "ms", ...rest } = of;
  const [own = [], ...others] = values;
  const upstream = others.map((theirs, index) => {
    return { name: programs[index + 1]?.name ?? "", summary: summarize(theirs) };
  });
  return { ...timed(rest, own), unit, beside: [...floors, ...upstream] };
}
