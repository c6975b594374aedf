import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readMemory } from "../control-plane/server-process.ts";
import type { Measure, Unit } from "../measure.ts";
import { summarize } from "../stats.ts";
import { type Manifest, mountingPod } from "../workload.ts";
import type { ClusterCase, ClusterCaseContext } from "./cluster-case.ts";
import type { NodeProcess, NodeProgram } from "./node-program.ts";
import { createPodOn, deleteObject, deletePod, putObject, showsGone, showsRunning } from "./pods.ts";
import { clearRuntime, runAlone } from "./turns.ts";

const CONTENT_BYTES = 100 * 1024;
const SETTLE_MS = 10_000;
/** Garbage is collected when V8 likes. */
const LAST_SETTLE_MS = 60_000;
const POLL_MS = 5;
const UPDATE_LIMIT_MS = 30_000;
const UPDATES = 5;
const PLUGIN = "kubernetes.io~configmap";

/** Many large config maps that pods mount: what they cost the node agent, and what the change of one makes it do. */
export const volumesWatch: ClusterCase = async (context) => {
  const [program] = context.programs;
  if (program === undefined) return [];
  const { api, sizes, progress } = context;
  const names = Array.from({ length: sizes.volumeConfigMaps }, (_, index) => `large-${index}`);
  progress(`making ${names.length} config maps`);
  try {
    for (const name of names) await putObject(api.connection, "ConfigMap", { name, data: contentOf(name, "first") });
    return await runAlone(program, async (process) => await measure(context, { program, process, names }));
  } finally {
    await clearRuntime(context);
    progress("removing the config maps");
    for (const name of names) await deleteObject(api.connection, "ConfigMap", name);
  }
};

interface Watched {
  program: NodeProgram;
  process: NodeProcess;
  names: readonly string[];
}

async function measure(context: ClusterCaseContext, { program, process, names }: Watched): Promise<Measure[]> {
  const { api, signal, progress, sizes } = context;
  const settle = async () => await delay(SETTLE_MS, undefined, { signal });
  const manifests = planPods(names, sizes.volumeConfigMapPods);
  const pods = manifests.map(({ metadata }) => metadata.name);
  await settle();
  const before = await readMemory([process.pid]);
  progress(`starting ${pods.length} pods`);
  const running = api.pods.until({ names: pods, what: "Running", fits: showsRunning, signal });
  const startedAt = performance.now();
  for (const manifest of manifests) await createPodOn(api.connection, program.nodeName, manifest);
  await running;
  const startMs = performance.now() - startedAt;
  await settle();
  const after = await readMemory([process.pid]);
  const updates: Update[] = [];
  for (let index = 0; index < UPDATES; index++) {
    progress(`update ${index + 1} of ${UPDATES}`);
    const name = names[Math.floor((index * names.length) / UPDATES)] ?? "";
    updates.push(await update(context, program, name));
  }
  await settle();
  const updated = await readMemory([process.pid]);
  const gone = api.pods.until({ names: pods, what: "gone", fits: showsGone, signal });
  for (const pod of pods) await deletePod(api.connection, pod);
  await gone;
  await delay(LAST_SETTLE_MS, undefined, { signal });
  const removed = await readMemory([process.pid]);
  const of = (name: string, unit: Unit, values: readonly number[]): Measure => {
    return { case: "volumes-watch", name, unit, summary: summarize(values) };
  };
  const maps = `${names.length} config maps of ${CONTENT_BYTES / 1024} KiB`;
  return [
    of(`${maps} in ${pods.length} pods: create called → the last Running seen`, "ms", [startMs]),
    of("resident, none mounted", "MiB", [before.resident]),
    of("resident, all mounted", "MiB", [after.resident]),
    of(`resident, after ${UPDATES} changes`, "MiB", [updated.resident]),
    of("resident, the pods gone", "MiB", [removed.resident]),
    {
      ...of(
        "change of one → its file changed",
        "ms",
        updates.map(({ latencyMs }) => latencyMs),
      ),
      target: { of: "value", p99: 1_000 },
    },
    {
      ...of(
        "volumes written by the change of one",
        "calls",
        updates.map(({ volumes }) => volumes),
      ),
      target: { of: "value", p99: 1 },
    },
  ];
}

interface Update {
  latencyMs: number;
  /** That show another version than before. */
  volumes: number;
}

async function update({ api, signal }: ClusterCaseContext, program: NodeProgram, name: string): Promise<Update> {
  const before = await readVersions(program);
  const calledAt = performance.now();
  await putObject(api.connection, "ConfigMap", { name, data: contentOf(name, String(calledAt)) });
  const own = [...before.keys()].find((path) => path.endsWith(`/${name}`)) ?? "";
  while ((await readVersion(own)) === before.get(own)) {
    if (performance.now() - calledAt > UPDATE_LIMIT_MS) throw new Error(`${name} did not change in the pod`);
    await delay(POLL_MS, undefined, { signal });
  }
  const latencyMs = performance.now() - calledAt;
  await delay(SETTLE_MS, undefined, { signal });
  const after = await readVersions(program);
  return { latencyMs, volumes: [...after].filter(([path, version]) => before.get(path) !== version).length };
}

/** Every config map's volume with the directory that it shows, which has another name after each change. */
async function readVersions({ rootDirectory }: NodeProgram): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  const pods = join(rootDirectory, "pods");
  for (const uid of await readdir(pods)) {
    const volumes = join(pods, uid, "volumes", PLUGIN);
    for (const name of await readdir(volumes).catch(() => [])) {
      versions.set(join(volumes, name), await readVersion(join(volumes, name)));
    }
  }
  return versions;
}

async function readVersion(volume: string): Promise<string> {
  return await readlink(join(volume, "..data"));
}

/** As many volumes in each pod as it takes. */
function planPods(names: readonly string[], pods: number): Manifest[] {
  const share = Math.ceil(names.length / pods);
  return Array.from({ length: pods }, (_, index) => {
    const own = names.slice(index * share, (index + 1) * share);
    return mountingPod(`watching-${index}`, Object.fromEntries(own.map((name) => [name, { configMap: { name } }])));
  });
}

/** No two are alike, so that nothing can share them. */
function contentOf(name: string, version: string): Record<string, string> {
  const line = `${name} ${version} `;
  return { content: line.repeat(Math.ceil(CONTENT_BYTES / line.length)).slice(0, CONTENT_BYTES) };
}
