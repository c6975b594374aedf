import type { Measure } from "../measure.ts";
import { type ApiCase, type ApiCaseContext, compare } from "./api-case.ts";
import type { ApiProgram } from "./api-server.ts";
import { type Connection, connect, expectStatus, type Protocol } from "./connection.ts";
import { fillServer } from "./fill.ts";
import { APPLICATION_SELECTOR, NODE_SELECTOR, PODS_PATH } from "./workload.ts";

/** What kubectl asks for when it prints a table. */
const TABLE = ["v1", "v1beta1"].map((v) => `application/json;as=Table;v=${v};g=meta.k8s.io`).join(",");
const KUBECTL_PAGE = 500;
const TARGET = { of: "value", median: 150 } as const;

interface List {
  name: string;
  protocol: Protocol;
  query: Readonly<Record<string, string>>;
  accept?: string;
  /** Reads the answer as objects; else the time ends with its last byte. */
  isParsed?: true;
  target?: typeof TARGET;
}

const LISTS: readonly List[] = [
  { name: "all", protocol: "HTTP/1.1", query: {}, target: TARGET },
  { name: "all, HTTP/2", protocol: "HTTP/2", query: {}, target: TARGET },
  { name: "all, parsed by the client", protocol: "HTTP/1.1", query: {}, isParsed: true },
  { name: "all as one table", protocol: "HTTP/2", query: {}, accept: TABLE, target: TARGET },
  { name: "first page of kubectl's table", protocol: "HTTP/2", query: { limit: `${KUBECTL_PAGE}` }, accept: TABLE },
  { name: "by label, 1 of 50", protocol: "HTTP/2", query: { labelSelector: APPLICATION_SELECTOR }, target: TARGET },
  { name: "by node, 1 of 10", protocol: "HTTP/2", query: { fieldSelector: NODE_SELECTOR }, target: TARGET },
];

/** How long lists of many pods take, to the last byte. */
export const apiList: ApiCase = async (context) => {
  const { programs, sizes } = context;
  const runs: number[][][] = [];
  for (const program of programs) runs.push(await listPods(context, program));
  return LISTS.map(({ name, target }, index): Measure => {
    const values = runs.map((run) => run[index] ?? []);
    const of = { case: "api-list", name: `${sizes.apiPods} pods, ${name}`, values } as const;
    return compare(context, target === undefined ? of : { ...of, target });
  });
};

async function listPods(context: ApiCaseContext, program: ApiProgram): Promise<number[][]> {
  const { sizes, signal, progress } = context;
  const server = await program.start(await context.makeDirectory(), signal);
  const open = (protocol: Protocol) => connect(server.endpoint, { protocol, connections: 1 });
  const connections = { "HTTP/1.1": open("HTTP/1.1"), "HTTP/2": open("HTTP/2") };
  const times: number[][] = LISTS.map(() => []);
  try {
    progress(`${program.name}, creating ${sizes.apiPods} pods`);
    await fillServer(context, server);
    for (let round = 1; round <= sizes.apiLists; round++) {
      progress(`${program.name}, round ${round} of ${sizes.apiLists}`);
      for (const [index, list] of LISTS.entries()) {
        signal.throwIfAborted();
        times[index]?.push(await timeList(connections[list.protocol], list));
      }
    }
    return times;
  } finally {
    for (const connection of Object.values(connections)) connection.close();
    await server.stop();
  }
}

async function timeList(connection: Connection, { query, accept, isParsed }: List): Promise<number> {
  const path = `${PODS_PATH}?${new URLSearchParams(query)}`;
  const begun = performance.now();
  const reply = await connection.request({ method: "GET", path, ...(accept !== undefined && { accept }) });
  const endedAt = performance.now();
  const text = expectStatus(reply, 200);
  if (!isParsed) return endedAt - begun;
  const list: { items: unknown[] } = JSON.parse(text);
  if (list.items.length === 0) throw new Error("the list is empty");
  return performance.now() - begun;
}
