import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Measure } from "../measure.ts";
import { type ApiCase, type ApiCaseContext, compare } from "./api-case.ts";
import type { ApiProgram, ApiServer } from "./api-server.ts";
import { type Connection, connect, expectStatus, type Protocol } from "./connection.ts";
import { readCpuMs } from "./server-process.ts";
import { sharedNow } from "./shared-clock.ts";
import type { WatchOrder, WatchReport } from "./watch-process.ts";
import { createLease, createPod, LEASES_PATH, leaseName, PODS_PATH, podName, prepareNamespace } from "./workload.ts";

const WATCH_PROCESS = new URL("./watch-process.ts", import.meta.url);
const WRITES_PER_SECOND = 100;
const SECOND = 1_000;
/** Objects that are written in turns. */
const OBJECTS = 20;
/** Streams that clients of Go put on one connection, here; with HTTP/1.1 every watch has its own. */
const STREAMS_PER_CONNECTION = 100;
/** What the last events may be late by before the run is given up. */
const DRAIN_MS = 60_000;
const TARGET = { of: "value", p99: 50 } as const;

/** What is written and watched. */
interface Scene {
  protocol: Protocol;
  what: string;
  path: string;
  create(connection: Connection, index: number): Promise<string>;
  /** A merge patch that changes an object. */
  change(index: number, write: number): { path: string; body: string };
}

/** The smallest objects that are written often. */
export const LEASES: Omit<Scene, "protocol"> = {
  what: "leases",
  path: LEASES_PATH,
  create: createLease,
  change: (index, write) => ({
    path: `${LEASES_PATH}/${leaseName(index)}`,
    body: JSON.stringify({ spec: { leaseTransitions: write } }),
  }),
};

const PODS: Omit<Scene, "protocol"> = {
  what: "pods",
  path: PODS_PATH,
  create: createPod,
  change: (index, write) => ({
    path: `${PODS_PATH}/${podName(index)}`,
    body: JSON.stringify({ metadata: { annotations: { write: `${write}` } } }),
  }),
};

const SCENES: readonly Scene[] = [
  { ...LEASES, protocol: "HTTP/2" },
  { ...LEASES, protocol: "HTTP/1.1" },
  { ...PODS, protocol: "HTTP/2" },
  { ...PODS, protocol: "HTTP/1.1" },
];

/** How long changes take to reach all of many watchers, who are in a process of their own. */
export const apiWatch: ApiCase = async (context) => {
  const { apiWatchers: watchers, apiWatchSeconds } = context.sizes;
  const load = {
    watchers,
    perSecond: WRITES_PER_SECOND,
    warmUp: WRITES_PER_SECOND,
    writes: apiWatchSeconds * WRITES_PER_SECOND,
  };
  const measures: Measure[] = [];
  for (const scene of SCENES) {
    const runs: Fanout[] = [];
    for (const program of context.programs) runs.push(await measureFanout(context, program, { ...scene, ...load }));
    const { what, protocol } = scene;
    const bytes = runs[0]?.bytes ?? 0;
    const of = `${what} (${bytes} bytes) to ${context.sizes.apiWatchers} watchers, ${protocol}`;
    measures.push(
      compare(context, {
        case: "api-watch",
        name: `${of}: write due → received`,
        target: TARGET,
        values: runs.map(({ sinceDue }) => sinceDue),
      }),
      compare(context, {
        case: "api-watch",
        name: `${of}: acknowledged → received`,
        values: runs.map(({ sinceAcknowledged }) => sinceAcknowledged),
      }),
      compare(context, {
        case: "api-watch",
        name: `${of}: the server's CPU`,
        unit: "% of a core",
        values: runs.map(({ cpuShare }) => [cpuShare]),
      }),
      compare(context, {
        case: "api-watch",
        name: `${of}: the watchers' CPU`,
        unit: "% of a core",
        values: runs.map(({ watchersCpuShare }) => [watchersCpuShare]),
      }),
    );
  }
  return measures;
};

interface Load {
  watchers: number;
  /** How many writes a second. */
  perSecond: number;
  /** Writes at the beginning that do not count: both sides' code is not compiled yet. */
  warmUp: number;
  writes: number;
}

interface Fanout {
  /** The delay of every event at every watcher. A write that waited for the one before it is counted from when it was due. */
  sinceDue: number[];
  sinceAcknowledged: number[];
  /** The size of an object as it is sent. */
  bytes: number;
  /** In percent of a core, for as long as the writes should take. */
  cpuShare: number;
  /** The same of the one process that all watchers are in: near 100 it is what the times tell of. */
  watchersCpuShare: number;
  /** The server's CPU for an event, in milliseconds; its memory afterwards, in MiB. */
  cpuPerEventMs: number;
  resident: number;
}

/** On a server of its own. */
export async function measureFanout(
  context: ApiCaseContext,
  program: ApiProgram,
  scene: Scene & Load,
): Promise<Fanout> {
  const { signal, progress } = context;
  const { protocol, what, watchers: count, perSecond } = scene;
  const server = await program.start(await context.makeDirectory(), signal);
  const connection = connect(server.endpoint, { protocol: "HTTP/1.1", connections: 1 });
  try {
    progress(`${program.name}, ${what}, ${protocol}, ${count} watchers`);
    const bytes = await prepareObjects(connection, scene);
    const events = scene.warmUp + scene.writes;
    const watchers = await startWatchers(server, { scene, events, count, connection });
    try {
      const cpuMs = [await server.readCpuMs(), await watchers.readCpuMs()] as const;
      const writes = await writeSteadily(connection, { scene, writes: events, signal });
      const arrivals = await watchers.received();
      const shareOf = (ms: number) => (100 * ms) / ((events * SECOND) / perSecond);
      const serverMs = (await server.readCpuMs()) - cpuMs[0];
      const watchersCpuShare = shareOf((await watchers.readCpuMs()) - cpuMs[1]);
      const { resident } = await server.readMemory();
      const cpu = { cpuPerEventMs: serverMs / arrivals.length, cpuShare: shareOf(serverMs), watchersCpuShare };
      return { ...computeDelays(writes, arrivals, scene.warmUp), bytes, resident, ...cpu };
    } finally {
      watchers.end();
    }
  } finally {
    connection.close();
    await server.stop();
  }
}

/** Returns how long one of them is, in bytes. */
async function prepareObjects(connection: Connection, { create }: Scene): Promise<number> {
  let bytes = 0;
  await prepareNamespace(connection);
  for (let index = 0; index < OBJECTS; index++) bytes = Buffer.byteLength(await create(connection, index));
  return bytes;
}

/** Resolves when all watches are open, from this moment on. */
async function startWatchers(
  { endpoint }: ApiServer,
  { scene, events, count, connection }: { scene: Scene; events: number; count: number; connection: Connection },
) {
  const { protocol, path } = scene;
  const list: { metadata: { resourceVersion: string } } = JSON.parse(
    expectStatus(await connection.request({ method: "GET", path: `${path}?limit=1` }), 200),
  );
  const order: WatchOrder = {
    endpoint,
    protocol,
    connections: protocol === "HTTP/2" ? Math.ceil(count / STREAMS_PER_CONNECTION) : count,
    watchers: count,
    events,
    path: `${path}?watch=true&resourceVersion=${list.metadata.resourceVersion}`,
  };
  const child = fork(WATCH_PROCESS, { serialization: "advanced" });
  const next = async (options?: { signal: AbortSignal }): Promise<WatchReport> => {
    const [report]: WatchReport[] = await once(child, "message", options);
    if (report === undefined || report.kind === "failed") throw new Error(report?.message);
    return report;
  };
  child.send(order);
  await next();
  // Asked for now: events may all have come before anybody waits for them.
  const received = next();
  received.catch(() => undefined);
  return {
    async received(): Promise<Float64Array> {
      const report = await Promise.race([received, delay(DRAIN_MS, undefined, { ref: false })]);
      if (report?.kind !== "received") throw new Error(`after ${DRAIN_MS / SECOND} s events are still missing`);
      return report.arrivals;
    },
    readCpuMs: async () => await readCpuMs([child.pid]),
    end: () => child.disconnect(),
  };
}

interface Write {
  dueAt: number;
  acknowledgedAt: number;
}

/** One after another, so that their order is known, at the times that the rate demands. */
async function writeSteadily(
  connection: Connection,
  { scene, writes, signal }: { scene: Scene & Load; writes: number; signal: AbortSignal },
): Promise<Write[]> {
  const done: Write[] = [];
  const begunAt = sharedNow();
  for (let write = 0; write < writes; write++) {
    signal.throwIfAborted();
    const dueAt = begunAt + (write * SECOND) / scene.perSecond;
    if (dueAt > sharedNow()) await delay(dueAt - sharedNow());
    const call = { method: "PATCH", contentType: "application/merge-patch+json" } as const;
    expectStatus(await connection.request({ ...call, ...scene.change(write % OBJECTS, write) }), 200);
    done.push({ dueAt, acknowledgedAt: sharedNow() });
  }
  return done;
}

function computeDelays(
  writes: readonly Write[],
  arrivals: Float64Array,
  warmUp: number,
): Pick<Fanout, "sinceDue" | "sinceAcknowledged"> {
  const sinceDue: number[] = [];
  const sinceAcknowledged: number[] = [];
  for (const [index, arrivedAt] of arrivals.entries()) {
    const write = writes[index % writes.length];
    if (write === undefined || index % writes.length < warmUp) continue;
    sinceDue.push(arrivedAt - write.dueAt);
    sinceAcknowledged.push(arrivedAt - write.acknowledgedAt);
  }
  return { sinceDue, sinceAcknowledged };
}
