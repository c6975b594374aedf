import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Measure } from "../measure.ts";
import { type ApiCase, type ApiCaseContext, compare } from "./api-case.ts";
import type { ApiProgram, ApiServer } from "./api-server.ts";
import { type Connection, connect, expectStatus, type Protocol } from "./connection.ts";
import { fillServer } from "./fill.ts";
import type { NoiseOrder, NoiseReport } from "./noise-process.ts";
import { NODE_SELECTOR, PODS_PATH, podName } from "./workload.ts";

const NOISE_PROCESS = new URL("./noise-process.ts", import.meta.url);
const QUIET = "quiet";
const NOISY = "noisy";
/** What the noise needs until all its calls are open and the server's code is compiled for it. */
const SETTLE_MS = 1_500;
/** Milliseconds between two calls of the quiet client. */
const REST_MS = 10;

/** What the quiet client asks for, in turns. */
const CALLS = [
  { name: "a get", path: `${PODS_PATH}/${podName(0)}` },
  { name: "a list of 10", path: `${PODS_PATH}?limit=10` },
  { name: "a list of a tenth", path: `${PODS_PATH}?${new URLSearchParams({ fieldSelector: NODE_SELECTOR })}` },
] as const;

interface Loudness {
  name: string;
  protocol: Protocol;
  /** Lists of all pods that are open at any time. */
  parallel: number;
}

const LOUDNESSES: readonly Loudness[] = [
  { name: "alone", protocol: "HTTP/2", parallel: 0 },
  { name: "beside 20 lists of all, HTTP/2", protocol: "HTTP/2", parallel: 20 },
  { name: "beside 200 lists of all, HTTP/2", protocol: "HTTP/2", parallel: 200 },
  { name: "beside 200 lists of all, HTTP/1.1", protocol: "HTTP/1.1", parallel: 200 },
];

interface Heard {
  /** How long each of the quiet client's calls took, by the call. */
  times: number[][];
  /** Milliseconds for each list of the noisy client; none where it is silent. */
  perList: number[];
}

/** How long a quiet user's calls take while another user lists everything, over and over. */
export const apiFair: ApiCase = async (context) => {
  const runs: Heard[][] = [];
  for (const program of context.programs) runs.push(await listenAll(context, program));
  return LOUDNESSES.flatMap((loudness, index): Measure[] => {
    const heard = runs.map((run) => run[index]);
    const measures = CALLS.map(({ name }, call) => {
      const values = heard.map((one) => one?.times[call] ?? []);
      return compare(context, { case: "api-fair", name: `${name}, ${loudness.name}`, values });
    });
    if (loudness.parallel === 0) return measures;
    const values = heard.map((one) => one?.perList ?? []);
    return [...measures, compare(context, { case: "api-fair", name: `each list of all, ${loudness.name}`, values })];
  });
};

async function listenAll(context: ApiCaseContext, program: ApiProgram): Promise<Heard[]> {
  const { signal, progress } = context;
  const server = await program.start(await context.makeDirectory(), signal);
  const connection = connect(server.endpoint, { protocol: "HTTP/2", connections: 1 });
  const heard: Heard[] = [];
  try {
    progress(`${program.name}, creating pods`);
    await fillServer({ ...context, sizes: { ...context.sizes, apiPods: context.sizes.fairPods } }, server);
    for (const user of [QUIET, NOISY]) await letRead(connection, user);
    for (const loudness of LOUDNESSES) {
      progress(`${program.name}, ${loudness.name}`);
      heard.push(await listen({ context, server, connection }, loudness));
    }
    return heard;
  } finally {
    connection.close();
    await server.stop();
  }
}

/** Neither user is an administrator, whose requests no server limits. */
async function letRead(connection: Connection, user: string): Promise<void> {
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: `${user}-views` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
  };
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  expectStatus(await connection.request({ method: "POST", path, body: JSON.stringify(binding) }), 201);
}

async function listen(
  { context, server, connection }: { context: ApiCaseContext; server: ApiServer; connection: Connection },
  { protocol, parallel }: Loudness,
): Promise<Heard> {
  const noise = parallel === 0 ? undefined : startNoise({ ...server, protocol, parallel });
  try {
    if (noise) await delay(SETTLE_MS);
    const begunAt = performance.now();
    const before = (await noise?.count()) ?? 0;
    const times: number[][] = CALLS.map(() => []);
    for (let read = 0; read < context.sizes.fairReads; read++) {
      context.signal.throwIfAborted();
      for (const [index, { path }] of CALLS.entries()) times[index]?.push(await timeCall(connection, path));
    }
    if (noise === undefined) return { times, perList: [] };
    return { times, perList: [(performance.now() - begunAt) / ((await noise.count()) - before)] };
  } finally {
    await noise?.end();
  }
}

function startNoise({ endpoint, ...options }: Pick<ApiServer, "endpoint"> & Pick<Loudness, "protocol" | "parallel">) {
  const child = fork(NOISE_PROCESS);
  const order: NoiseOrder = { endpoint, ...options, user: NOISY, path: PODS_PATH };
  child.send(order);
  return {
    /** How many lists it has had. */
    async count(): Promise<number> {
      child.send("count");
      const [report]: NoiseReport[] = await once(child, "message");
      return report?.answered ?? 0;
    },
    /** Resolves when it makes no call any more. */
    async end(): Promise<void> {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}

async function timeCall(connection: Connection, path: string): Promise<number> {
  await delay(REST_MS);
  const begun = performance.now();
  expectStatus(await connection.request({ method: "GET", path, user: QUIET }), 200);
  return performance.now() - begun;
}
