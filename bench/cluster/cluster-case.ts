import type { Node, Pod } from "../../src/api/gen/types.ts";
import type { Connection } from "../control-plane/connection.ts";
import type { Floor } from "../floor.ts";
import { type Measure, type Target, timed, type Unit } from "../measure.ts";
import type { ClusterCaseName } from "../options.ts";
import type { Sizes } from "../sizes.ts";
import { computeMedians, summarize } from "../stats.ts";
import type { World } from "../world.ts";
import type { NodeProgram } from "./node-program.ts";
import type { ObjectWatch } from "./object-watch.ts";

/** An API server with an administrator at work in it. */
export interface Api {
  /** May do everything. */
  connection: Connection;
  pods: ObjectWatch<Pod>;
  nodes: ObjectWatch<Node>;
  /** That its server has used so far, in milliseconds. */
  readCpuMs(): Promise<number>;
}

/** What a case works with. It leaves no pod and no node agent behind. */
export interface ClusterCaseContext {
  world: World;
  floor: Floor;
  api: Api;
  /** nodelet, and the Go kubelet where it is at hand. */
  programs: readonly NodeProgram[];
  sizes: Sizes;
  signal: AbortSignal;
  /** Says how far it is. */
  progress(text: string): void;
}

export type ClusterCase = (context: ClusterCaseContext) => Promise<Measure[]>;

interface Compared {
  case: ClusterCaseName;
  name: string;
  unit?: Unit;
  target?: Target;
  /** The values of each program, in the order of the programs; nodelet's is the measure. */
  values: ReadonlyArray<readonly number[]>;
  /** In how many turns each program took them. Default: each value is a turn's. */
  rounds?: number;
  floor?: readonly number[];
}

/** nodelet's values against the floor's, with the kubelet's beside them. */
export function compareNodes({ programs }: ClusterCaseContext, of: Compared): Measure {
  const { values, floor, unit = "ms", rounds, ...rest } = of;
  const [own = [], ...others] = values;
  const roundsOf = (theirs: readonly number[]) => computeMedians(theirs, rounds ?? theirs.length);
  const beside = others.map((theirs, index) => {
    return { name: programs[index + 1]?.name ?? "", summary: summarize(theirs), rounds: roundsOf(theirs) };
  });
  return { ...timed(rest, own, floor), unit, beside, rounds: roundsOf(own) };
}
