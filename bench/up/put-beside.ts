import { type Measure, NAME_SEPARATOR } from "../measure.ts";
import type { StandIn } from "./stand-ins/stand-in.ts";

/** Puts what a case measured of a cluster with programs of others beside what it measured of ours, name by name. */
export function putBeside(
  own: readonly Measure[],
  standIns: readonly StandIn[],
  theirs: readonly Measure[],
): readonly Measure[] {
  const name = standIns.map((standIn) => standIn.name).join(NAME_SEPARATOR);
  return own.map((measure) => {
    const same = theirs.find((of) => of.name === measure.name);
    return same === undefined
      ? measure
      : { ...measure, beside: [...(measure.beside ?? []), { name, summary: same.summary }] };
  });
}
