import { setTimeout as delay } from "node:timers/promises";
import type { ClusterCase } from "../cluster/cluster-case.ts";
import { deleteObject, putObject } from "../cluster/pods.ts";
import { clearRuntime, runAlone } from "../cluster/turns.ts";
import type { Measure } from "../measure.ts";
import { summarize } from "../stats.ts";
import { type Manifest, mountingPod } from "../workload.ts";
import { timeOnePod } from "./grown-pods.ts";

const PAUSE_MS = 300;
const CONFIG_MAP = "grown-volumes";

interface Timed {
  volumes: number;
  starts: number[];
  stops: number[];
}

/** Pods with ever more volumes, each a config map or an empty directory. */
export const growVolumes: ClusterCase = async (context) => {
  const { api, sizes, signal, progress } = context;
  const [program] = context.programs;
  if (program === undefined) return [];
  await putObject(api.connection, "ConfigMap", { name: CONFIG_MAP, data: { "app.conf": "a=1\n".repeat(100) } });
  try {
    return await runAlone(program, async () => {
      const times: Timed[] = sizes.growVolumes.map((volumes) => ({ volumes, starts: [], stops: [] }));
      // One of each in turns, so that noise meets all of them; the first of each warms up.
      for (let sample = -1; sample < sizes.growVolumesPods; sample++) {
        for (const { volumes, starts, stops } of times) {
          progress(`pod ${sample + 2} of ${sizes.growVolumesPods + 1}, ${volumes} volumes`);
          const { startMs, stopMs } = await timeOnePod(
            context,
            program,
            podWith(volumes, `volumes-${volumes}-${sample + 1}`),
          );
          if (sample >= 0) starts.push(startMs);
          if (sample >= 0) stops.push(stopMs);
          await delay(PAUSE_MS, undefined, { signal });
        }
      }
      const of = (name: string, value: number, values: readonly number[]): Measure => {
        return { case: "grow-volumes", name, unit: "ms", at: { of: "volumes", value }, summary: summarize(values) };
      };
      return [
        ...times.map(({ volumes, starts }) => of("create called → Running seen", volumes, starts)),
        ...times.map(({ volumes, stops }) => of("delete called → gone seen", volumes, stops)),
      ];
    });
  } finally {
    await clearRuntime(context);
    await deleteObject(api.connection, "ConfigMap", CONFIG_MAP);
  }
};

function podWith(volumes: number, name: string): Manifest {
  const kinds = [{ configMap: { name: CONFIG_MAP } }, { emptyDir: {} }];
  const named = Array.from(
    { length: volumes },
    (_, index) => [`v-${index}`, kinds[index % kinds.length] ?? {}] as const,
  );
  return mountingPod(name, Object.fromEntries(named), { automountServiceAccountToken: false });
}
