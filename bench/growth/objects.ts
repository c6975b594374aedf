import { type ApiCase, type ApiCaseContext, compare } from "../control-plane/api-case.ts";
import type { ApiServer } from "../control-plane/api-server.ts";
import { type Connection, connect, expectStatus } from "../control-plane/connection.ts";
import { CONFIG_MAPS_PATH, createConfigMap, prepareNamespace } from "../control-plane/workload.ts";
import type { Measure, Unit } from "../measure.ts";

const CLIENTS = 8;
const PAGE = 500;
const SAMPLES = 50;
const PAGES = 10;

/** An API server with ever more objects, which is started again with each number of them. */
export const growObjects: ApiCase = async (context) => {
  const [program] = context.programs;
  if (program === undefined) return [];
  const directory = await context.makeDirectory();
  const measures: Measure[] = [];
  let created = 0;
  for (const objects of context.sizes.growObjects) {
    context.progress(`${objects} objects`);
    const first = await program.start(directory, context.signal);
    try {
      await fill(context, first, { from: created, to: objects });
      created = objects;
    } finally {
      await first.stop();
    }
    const server = await program.start(directory, context.signal);
    try {
      const { resident } = await server.readMemory();
      const times = await timeCalls(server, created);
      created += SAMPLES;
      const of = (name: string, unit: Unit, values: readonly number[]) => ({
        ...compare(context, { case: "grow-objects", name, unit, values: [values] }),
        at: { of: "objects", value: objects },
      });
      measures.push(
        of("process started again → /readyz", "ms", [server.readyAfterMs]),
        of("resident, started again", "MiB", [resident]),
        of("create one, durable", "ms", times.creations),
        of("get one", "ms", times.gets),
        of(`list a page of ${PAGE}`, "ms", times.pages),
      );
    } finally {
      await server.stop();
    }
  }
  return measures;
};

async function fill(
  { signal, progress }: ApiCaseContext,
  { endpoint }: ApiServer,
  { from, to }: { from: number; to: number },
): Promise<void> {
  const connection = connect(endpoint, { protocol: "HTTP/1.1", connections: CLIENTS });
  let next = from;
  const client = async () => {
    while (next < to) {
      signal.throwIfAborted();
      progress(`creating ${next} of ${to} objects`);
      await createConfigMap(connection, next++);
    }
  };
  try {
    await prepareNamespace(connection);
    await Promise.all(Array.from({ length: CLIENTS }, client));
  } finally {
    connection.close();
  }
}

async function timeCalls({ endpoint }: ApiServer, created: number) {
  const connection = connect(endpoint, { protocol: "HTTP/2", connections: 1 });
  const times: Record<"creations" | "gets" | "pages", number[]> = { creations: [], gets: [], pages: [] };
  try {
    for (let sample = 0; sample < SAMPLES; sample++) {
      const begun = performance.now();
      await createConfigMap(connection, created + sample);
      times.creations.push(performance.now() - begun);
      times.gets.push(
        await timeGet(connection, `${CONFIG_MAPS_PATH}/settings-${Math.floor((created * sample) / SAMPLES)}`),
      );
    }
    for (let page = 0; page < PAGES; page++) {
      times.pages.push(await timeGet(connection, `${CONFIG_MAPS_PATH}?limit=${PAGE}`));
    }
    return times;
  } finally {
    connection.close();
  }
}

async function timeGet(connection: Connection, path: string): Promise<number> {
  const begun = performance.now();
  expectStatus(await connection.request({ method: "GET", path }), 200);
  return performance.now() - begun;
}
