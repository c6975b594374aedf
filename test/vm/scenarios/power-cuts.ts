import { setTimeout as delay } from "node:timers/promises";
import type { ConfigMap, Pod } from "../../../src/api/gen/types.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { createPod, deletePods, untilNodeReady, untilReady } from "./pods.ts";
import { expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { readRunningTasks, untilServiceAnswers } from "./service.ts";

/** How often the power is cut; 30 is a long run. The seed says when. */
const CUTS = Number(process.env["NODELET_VM_CUTS"] ?? "3");
const SEED = Number(process.env["NODELET_VM_SEED"] ?? "1");
/** A pod takes about that long to start, so that it is met at each of its steps. */
const LONGEST_MS = 4_000;
const LOOK_AGAIN_MS = 50;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** An emptyDir and a service account's token are staged while a pod starts. */
const SCRATCH = { volumes: [{ name: "scratch", emptyDir: {} }] };

/** Nobody is asked, and nothing is written any more. */
export const powerCuts: Scenario = {
  name: "power-cuts",
  promise: "after a power cut the node comes back, nothing that was acknowledged is lost, and no pod runs twice",
  run: async (at) => {
    const random = createSeededRandom(SEED);
    await createPod(at, "lasting", { spec: SCRATCH });
    await untilReady(at, "lasting");
    const pods = ["lasting"];
    for (let cut = 1; cut <= CUTS; cut++) {
      const created = `cut-${cut}`;
      const written = writeConfigMaps(at, created);
      while (!at.machine.heard.some((line) => line.startsWith(`${created}-`))) await delay(LOOK_AGAIN_MS);
      await createPod(at, created, { spec: SCRATCH });
      pods.push(created);
      await delay(random.next() * LONGEST_MS);
      await at.machine.cutPower();
      await written;
      await untilServiceAnswers(at);
      await untilNodeReady(at);
      await expectKept(at, created);
      for (const name of pods) await untilReady(at, name);
      await until(
        at,
        "ask-api GET /api/v1/namespaces/default/pods",
        (output) => podNames(output).length === pods.length,
      );
      const tasks = await readRunningTasks(at);
      expectTrue(tasks.length === 2 * pods.length, `not two processes for each of ${pods.join()}: ${tasks.join(" ")}`);
    }
    await deletePods(at, ...pods);
    await at.machine.read(`ask-api DELETE ${CONFIG_MAPS}?labelSelector=written-by%3Dpower-cuts`);
  },
};

/** Creates one after the other until the power goes, and tells each that the API server has acknowledged. */
async function writeConfigMaps({ machine }: Stage, prefix: string): Promise<void> {
  const script = `for ((n = 1; ; n++)); do
    echo '{"metadata":{"name":"${prefix}-'$n'","labels":{"written-by":"power-cuts"}}}' |
      ask-api POST ${CONFIG_MAPS} > /dev/null && echo "+${prefix}-$n" >&4; done`;
  await machine.run(script).catch(() => undefined);
}

async function expectKept(at: Stage, prefix: string): Promise<void> {
  const list: { items: ConfigMap[] } = JSON.parse(await at.machine.read(`ask-api GET ${CONFIG_MAPS}`));
  const kept = new Set(list.items.map(({ metadata }) => metadata?.name));
  const acknowledged = at.machine.heard.filter((line) => line.startsWith(`${prefix}-`));
  at.note(`${prefix}: ${acknowledged.length} were acknowledged`);
  const lost = acknowledged.filter((name) => !kept.has(name));
  expectTrue(acknowledged.length > 0, "nothing was acknowledged before the cut");
  expectTrue(lost.length === 0, `lost: ${lost.join(" ")}`);
}

function podNames(output: string): string[] {
  const { items }: { items: Pod[] } = JSON.parse(output);
  return items.map(({ metadata }) => metadata?.name ?? "");
}
