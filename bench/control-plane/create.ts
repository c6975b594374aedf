import { summarize } from "../stats.ts";
import { type ApiCase, type ApiCaseContext, compare } from "./api-case.ts";
import type { ApiProgram } from "./api-server.ts";
import { type Connection, connect, type Protocol } from "./connection.ts";
import { createFloors, type Floors } from "./floors.ts";
import { createPod, prepareNamespace } from "./workload.ts";

const CLIENTS = 8;
const SECOND = 1_000;
const TARGET = { of: "value", median: 3, p99: 15 } as const;

/** How long it takes to create a pod, durably. The floors take turns with nodelet, pod by pod. */
export const apiCreate: ApiCase = async (context) => {
  const { programs, sizes, signal } = context;
  const directory = await context.makeDirectory();
  const floors = await createFloors(directory, { connections: CLIENTS });
  try {
    const runs: Run[] = [];
    for (const program of programs) runs.push(await createPods(context, program, floors));
    const echoes: number[] = [];
    const turns = Math.ceil(sizes.apiParallelCreates / CLIENTS);
    await inParallel(turns * CLIENTS, async () => {
      signal.throwIfAborted();
      echoes.push(await floors.echo(runs[0]?.bytes ?? 0));
    });
    const beside = [
      { name: "HTTPS echo of as many bytes", summary: summarize(runs[0]?.echoes ?? []) },
      { name: "write and fdatasync of as many bytes", summary: summarize(runs[0]?.flushes ?? []) },
    ];
    const parallelEcho = [{ name: `HTTPS echo, ${CLIENTS} clients`, summary: summarize(echoes) }];
    const [name, values] = ["create pod", (of: keyof Timed) => runs.map((run) => run[of])];
    return [
      compare(context, {
        case: "api-create",
        name: `${name}, one client`,
        target: TARGET,
        values: values("http1"),
        floors: beside,
      }),
      compare(context, {
        case: "api-create",
        name: `${name}, one client, HTTP/2`,
        target: TARGET,
        values: values("http2"),
      }),
      compare(context, {
        case: "api-create",
        name: `${name}, ${CLIENTS} clients`,
        target: TARGET,
        values: values("parallel"),
        floors: parallelEcho,
      }),
      compare(context, {
        case: "api-create",
        name: `pods created by ${CLIENTS} clients`,
        unit: "writes/s",
        values: runs.map(({ perSecond }) => [perSecond]),
      }),
      compare(context, {
        case: "api-create",
        name: `the server's CPU for one of those`,
        values: runs.map(({ cpuMs }) => [cpuMs]),
      }),
    ];
  } finally {
    await floors.close();
  }
};

interface Timed {
  http1: number[];
  http2: number[];
  parallel: number[];
}

interface Run extends Timed {
  perSecond: number;
  /** The server's processor time for a pod. */
  cpuMs: number;
  echoes: number[];
  flushes: number[];
  /** The size of a pod as the server answers it, which is as it stores it. */
  bytes: number;
}

async function createPods(context: ApiCaseContext, program: ApiProgram, floors: Floors): Promise<Run> {
  const { sizes, signal, progress } = context;
  const server = await program.start(await context.makeDirectory(), signal);
  const open = (protocol: Protocol, connections: number) => connect(server.endpoint, { protocol, connections });
  const connections = { http1: open("HTTP/1.1", 1), http2: open("HTTP/2", 1), parallel: open("HTTP/1.1", CLIENTS) };
  const run: Run = { http1: [], http2: [], parallel: [], perSecond: 0, cpuMs: 0, echoes: [], flushes: [], bytes: 0 };
  let created = 0;
  const create = async (of: keyof Timed) => {
    signal.throwIfAborted();
    const { ms, bytes } = await timeCreation(connections[of], created++);
    run[of].push(ms);
    run.bytes = bytes;
  };
  try {
    await prepareNamespace(connections.http1);
    progress(`${program.name}, ${sizes.apiCreates} pods, one at a time`);
    for (let count = 0; count < sizes.apiCreates; count++) {
      await create("http1");
      run.echoes.push(await floors.echo(run.bytes));
      run.flushes.push(await floors.flush(run.bytes));
      await create("http2");
    }
    progress(`${program.name}, ${sizes.apiParallelCreates} pods, ${CLIENTS} at a time`);
    const cpuMs = await server.readCpuMs();
    const begun = performance.now();
    await inParallel(sizes.apiParallelCreates, async () => await create("parallel"));
    run.perSecond = (sizes.apiParallelCreates * SECOND) / (performance.now() - begun);
    run.cpuMs = ((await server.readCpuMs()) - cpuMs) / sizes.apiParallelCreates;
    return run;
  } finally {
    for (const connection of Object.values(connections)) connection.close();
    await server.stop();
  }
}

async function timeCreation(connection: Connection, index: number): Promise<{ ms: number; bytes: number }> {
  const begun = performance.now();
  const { length } = await createPod(connection, index);
  return { ms: performance.now() - begun, bytes: length };
}

/** So many turns, by all clients at a time. */
async function inParallel(turns: number, turn: () => Promise<void>): Promise<void> {
  let left = turns;
  const client = async () => {
    while (left-- > 0) await turn();
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}
