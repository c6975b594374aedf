import { type ApiCase, compare } from "../control-plane/api-case.ts";
import { LEASES, measureFanout } from "../control-plane/watch.ts";
import type { Measure, Unit } from "../measure.ts";

/** Fifty thousand events a second go out before five thousand watchers, and as many are read on the same processors. */
const LOAD = { protocol: "HTTP/2", perSecond: 10, warmUp: 20, writes: 30 } as const;

/** Small objects are written at a steady rate before ever more watchers. */
export const growWatchers: ApiCase = async (context) => {
  const [program] = context.programs;
  if (program === undefined) return [];
  const measures: Measure[] = [];
  for (const watchers of context.sizes.growWatchers) {
    const run = await measureFanout(context, program, { ...LEASES, ...LOAD, watchers });
    const of = (name: string, unit: Unit, values: readonly number[]) => ({
      ...compare(context, { case: "grow-watchers", name, unit, values: [values] }),
      at: { of: "watchers", value: watchers },
    });
    measures.push(
      of("write due → received", "ms", run.sinceDue),
      of("the server's CPU for an event", "ms", [run.cpuPerEventMs]),
      of("resident", "MiB", [run.resident]),
    );
  }
  return measures;
};
