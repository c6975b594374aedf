import { setTimeout as delay } from "node:timers/promises";
import type { ClusterCase } from "../cluster/cluster-case.ts";
import { putObject } from "../cluster/pods.ts";
import { runAlone } from "../cluster/turns.ts";
import { readCpuMs, readMemory } from "../control-plane/server-process.ts";
import type { Measure, Unit } from "../measure.ts";
import { summarize } from "../stats.ts";
import { type Manifest, readingPod } from "../workload.ts";
import { removePods, startPods } from "./grown-pods.ts";

const SETTLE_MS = 5_000;
const SECOND = 1_000;
const PER_POD = 250;
const AT_A_TIME = 16;

/** Pods that name ever more secrets, each of which the node agent watches; on the fake runtime. */
export const growSecrets: ClusterCase = async (context) => {
  const { api, sizes, signal, progress } = context;
  const [program] = context.programs;
  if (program === undefined) return [];
  return await runAlone(program, async ({ pid }) => {
    const measures: Measure[] = [];
    const pods: string[] = [];
    let made = 0;
    for (const secrets of sizes.growSecrets) {
      progress(`making ${secrets} secrets`);
      const names = Array.from({ length: secrets - made }, (_, index) => `grown-${made + index}`);
      for (let begin = 0; begin < names.length; begin += AT_A_TIME) {
        signal.throwIfAborted();
        const part = names.slice(begin, begin + AT_A_TIME);
        await Promise.all(part.map(async (name) => await putObject(api.connection, "Secret", { name, data: DATA })));
      }
      progress(`${secrets} secrets`);
      const begunAt = performance.now();
      const manifests = planPods(names, made);
      await startPods(context, program, manifests);
      const startMs = performance.now() - begunAt;
      pods.push(...manifests.map(({ metadata }) => metadata.name));
      made = secrets;
      await delay(SETTLE_MS, undefined, { signal });
      const [begun, cpuMs] = [performance.now(), await readCpuMs([pid])];
      await delay(sizes.growIdleSeconds * SECOND, undefined, { signal });
      const share = (100 * ((await readCpuMs([pid])) - cpuMs)) / (performance.now() - begun);
      const of = (name: string, unit: Unit, value: number): Measure => {
        const at = { of: "secrets", value: secrets };
        return { case: "grow-secrets", name, unit, at, summary: summarize([value]) };
      };
      measures.push(
        of("the pods that name the added ones, the last Running", "ms", startMs),
        of("resident", "MiB", (await readMemory([pid])).resident),
        of("CPU of the idle agent", "% of a core", share),
      );
    }
    progress("removing the pods");
    await removePods(context, pods);
    return measures;
  });
};

const DATA = { KEY: Buffer.from("value".repeat(20)).toString("base64") };

/** As few as can name them. */
function planPods(secrets: readonly string[], first: number): Manifest[] {
  return Array.from({ length: Math.ceil(secrets.length / PER_POD) }, (_, index) => {
    return readingPod(`secrets-${first}-${index}`, secrets.slice(index * PER_POD, (index + 1) * PER_POD));
  });
}
