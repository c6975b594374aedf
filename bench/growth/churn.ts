import { setTimeout as delay } from "node:timers/promises";
import type { ClusterCase } from "../cluster/cluster-case.ts";
import { runAlone } from "../cluster/turns.ts";
import { readMemory } from "../control-plane/server-process.ts";
import type { Measure, Target } from "../measure.ts";
import { summarize } from "../stats.ts";
import { sleepingPod } from "../workload.ts";
import { removePods, startPods } from "./grown-pods.ts";

const SETTLE_MS = 10_000;
/** Garbage is collected when V8 likes. */
const LAST_SETTLE_MS = 30_000;
const AT_A_TIME = 100;
const TARGET = { of: "value", median: 5 } as const;

/** What stays of pods that came and went, on the fake runtime. */
export const churn: ClusterCase = async (context) => {
  const { sizes, signal, progress } = context;
  const [program] = context.programs;
  if (program === undefined) return [];
  return await runAlone(program, async ({ pid }) => {
    await delay(SETTLE_MS, undefined, { signal });
    const before = await readMemory([pid]);
    for (let done = 0; done < sizes.churnPods; done += AT_A_TIME) {
      progress(`${done} of ${sizes.churnPods} pods came and went`);
      const names = Array.from(
        { length: Math.min(AT_A_TIME, sizes.churnPods - done) },
        (_, index) => `c-${done + index}`,
      );
      await startPods(context, program, names.map(sleepingPod));
      await removePods(context, names);
    }
    const atOnce = await readMemory([pid]);
    await delay(LAST_SETTLE_MS, undefined, { signal });
    const after = await readMemory([pid]);
    const of = (name: string, value: number, target?: Target): Measure => {
      return { case: "grow-churn", name, unit: "MiB", summary: summarize([value]), ...(target && { target }) };
    };
    const pods = `${sizes.churnPods} pods`;
    return [
      of("resident, before any pod", before.resident),
      of(`resident, ${pods} came and went, at once`, atOnce.resident),
      of(`resident, ${pods} came and went, ${LAST_SETTLE_MS / 1_000} s later`, after.resident),
      of(`resident, what ${pods} left`, after.resident - before.resident, TARGET),
    ];
  });
};
