import { setTimeout as delay } from "node:timers/promises";
import { type ApiCase, type ApiCaseContext, compare } from "./api-case.ts";
import type { ApiProgram, ApiServer } from "./api-server.ts";
import { connect, expectStatus } from "./connection.ts";
import { fillServer } from "./fill.ts";
import { APPLICATION_SELECTOR, PODS_PATH, renewNodes } from "./workload.ts";

const SECOND = 1_000;
const RESTART_SETTLE_MS = 5_000;
const RENEWAL_MS = 10_000;
const TARGET = { of: "value", median: 120 } as const;

interface Weight {
  name: string;
  resident: number;
  proportional: number;
  hasTarget?: true;
}

/** What a server holds: with nothing to serve, with many pods, after lists of them, and when it was started again. */
export const apiMemory: ApiCase = async (context) => {
  const runs: Weight[][] = [];
  for (const program of context.programs) runs.push(await weigh(context, program));
  return (runs[0] ?? []).flatMap(({ name, hasTarget }, index) => {
    const of = (part: "resident" | "proportional") => ({
      case: "api-memory" as const,
      name: `${part}, ${name}`,
      unit: "MiB" as const,
      values: runs.map((run) => [run[index]?.[part] ?? 0]),
    });
    const resident = compare(context, hasTarget ? { ...of("resident"), target: TARGET } : of("resident"));
    return [resident, compare(context, of("proportional"))];
  });
};

async function weigh(context: ApiCaseContext, program: ApiProgram): Promise<Weight[]> {
  const { sizes, signal, progress } = context;
  const directory = await context.makeDirectory();
  const weights: Weight[] = [];
  const settleMs = sizes.apiSettleSeconds * SECOND;
  const take = async (server: ApiServer, name: string, hasTarget?: true) => {
    weights.push({ name, ...(await server.readMemory()), ...(hasTarget && { hasTarget }) });
  };
  const settle = async (server: ApiServer, name: string) => {
    progress(`${program.name}, ${name}`);
    await waitWithNodes(server, settleMs, signal);
    await take(server, name, true);
  };
  const first = await program.start(directory, signal);
  try {
    await delay(RESTART_SETTLE_MS, undefined, { signal });
    await take(first, "no pods");
    progress(`${program.name}, creating ${sizes.apiPods} pods`);
    await fillServer(context, first);
    await take(first, `${sizes.apiPods} pods, at once`);
    await settle(first, `${sizes.apiPods} pods, ${sizes.apiSettleSeconds} s later`);
    await listOften(first);
    await take(first, `${sizes.apiPods} pods, lists of them`);
    await settle(first, `${sizes.apiPods} pods, ${sizes.apiSettleSeconds} s after lists`);
  } finally {
    await first.stop();
  }
  const second = await program.start(directory, signal);
  try {
    await delay(RESTART_SETTLE_MS, undefined, { signal });
    await take(second, `${sizes.apiPods} pods, started again`, true);
  } finally {
    await second.stop();
  }
  return weights;
}

/** Nothing happens meanwhile but that nodes renew their leases. */
async function waitWithNodes({ endpoint }: ApiServer, waitMs: number, signal: AbortSignal): Promise<void> {
  const connection = connect(endpoint, { protocol: "HTTP/2", connections: 1 });
  try {
    for (let leftMs = waitMs; leftMs > 0; leftMs -= RENEWAL_MS) {
      await renewNodes(connection);
      await delay(Math.min(leftMs, RENEWAL_MS), undefined, { signal });
    }
  } finally {
    connection.close();
  }
}

/** All there are, and a part of them that the server has to look for. */
async function listOften({ endpoint }: ApiServer): Promise<void> {
  const connection = connect(endpoint, { protocol: "HTTP/2", connections: 1 });
  try {
    for (const query of ["", `?${new URLSearchParams({ labelSelector: APPLICATION_SELECTOR })}`]) {
      for (const accept of ["application/json", "application/json;as=Table;v=v1;g=meta.k8s.io"]) {
        expectStatus(await connection.request({ method: "GET", path: `${PODS_PATH}${query}`, accept }), 200);
      }
    }
  } finally {
    connection.close();
  }
}
