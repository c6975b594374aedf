import { setMaxListeners } from "node:events";
import { readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MINUTE } from "../../../src/base/clock.ts";
import { createWorld } from "../../sim/create-world.ts";
import { runChaos } from "../../sim/run.ts";
import type { World } from "../../sim/world.ts";
import type { Series } from "../growth.ts";
import { reportGrowth } from "../report-growth.ts";

const HOUR = 60 * MINUTE;
/** A chaos lasts some minutes; the rest of the time the node has its peace. */
const ROUND_MS = HOUR;
const MEBIBYTE = 1024 ** 2;

/** One simulated node for so many hours of its clock; returns the names of what grows, and what failed. */
export async function soakVirtually({ hours, seed }: { hours: number; seed: number }): Promise<readonly string[]> {
  setMaxListeners(0);
  const world = await createRichWorld(seed);
  const collect = createCollector();
  const measures = listMeasures(world);
  const series = measures.map(({ name, unit, slack }): Series => ({ name, unit, slack, samples: [] }));
  const { clock } = world;
  await world.node.start();
  while (clock.monotonic() < hours * HOUR && world.failure === undefined) {
    const begin = clock.monotonic();
    await runChaos(world);
    await world.passUntil(Math.max(clock.monotonic(), begin + ROUND_MS));
    collect();
    const at = clock.monotonic() / 1000;
    for (const [index, { read }] of measures.entries())
      series[index]?.samples.push({ at, owner: "", value: await read() });
    console.log(`  ${(clock.monotonic() / HOUR).toFixed(1)} h, ${world.steps} steps`);
  }
  if (world.failure === undefined) await world.node.stop();
  await world.cluster?.stop();
  const { failure } = world;
  if (failure !== undefined) console.log([failure.invariant, failure.message, ...world.trace.recent].join("\n"));
  const growing = reportGrowth(series);
  return failure === undefined ? growing : [`${failure.invariant} (it did not hold)`, ...growing];
}

/** The first seed from this one on whose node has an API server, a storage driver and pods with probes. */
async function createRichWorld(first: number): Promise<World> {
  for (let seed = first; ; seed++) {
    const world = await createWorld(seed, { mostSteps: Number.POSITIVE_INFINITY });
    const isRich = world.cluster?.storage !== undefined && world.probed !== undefined;
    if (isRich) {
      console.log(`The node is that of seed ${seed}`);
      return world;
    }
    await world.cluster?.stop();
  }
}

interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly slack: number;
  read(): number | Promise<number>;
}

function listMeasures({ node, host, cri, cluster }: World): Measure[] {
  const count = (name: string, read: Measure["read"], slack = 4): Measure => ({ name, unit: "", slack, read });
  const memory = () => node.memory;
  /** How many there are is up to the chaos. */
  const pods = () => Math.max(1, memory()?.workers.states().size ?? 0);
  return [
    count("timers", () => node.held?.timers ?? 0, 20),
    count("calls without an answer", () => node.held?.calls ?? 0, 10),
    count("listeners for the end", () => node.held?.listeners ?? 0, 10),
    count("workers", () => memory()?.workers.states().size ?? 0),
    count("statuses", () => memory()?.statuses.list().length ?? 0),
    count("cached pods", () => memory()?.cache.size ?? 0),
    count("probed pods", () => memory()?.probes.podUids().length ?? 0),
    count("pods with references", () => memory()?.references?.podUids().length ?? 0),
    count("deliveries", () => memory()?.deliveries?.podUids().length ?? 0),
    count("sandboxes", () => cri.sandboxes().length, 12),
    count("containers", () => cri.containers().length, 24),
    count("mounts", () => host.mounts.mounted().length, 12),
    count("cgroups", () => host.cgroups.tree.limits.size, 8),
    count("pods in the API", () => cluster?.pods.bound().length ?? 0),
    count(
      "files of the kubelet, each pod",
      async () => (await countFiles(host.files, "/var/lib/kubelet")) / pods(),
      15,
    ),
    count("files of logs, each pod", async () => (await countFiles(host.files, "/var/log")) / pods(), 8),
    count("resources of Node.js", () => process.getActiveResourcesInfo().length),
    count("handles", () => readdirSync("/proc/self/fd").length),
    { name: "heap", unit: "MiB", slack: 60, read: () => process.memoryUsage().heapUsed / MEBIBYTE },
  ];
}

async function countFiles(files: World["host"]["files"], directory: string): Promise<number> {
  if ((await files.stat(directory)) === undefined) return 0;
  let sum = 0;
  for (const { name, type } of await files.list(directory)) {
    sum += 1 + (type === "directory" ? await countFiles(files, `${directory}/${name}`) : 0);
  }
  return sum;
}

/** What nobody holds is no growth. */
function createCollector(): () => void {
  setFlagsFromString("--expose_gc");
  const collect: unknown = runInNewContext("gc");
  return () => {
    if (typeof collect === "function") collect();
  };
}
