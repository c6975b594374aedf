import { setTimeout as delay } from "node:timers/promises";
import { type ApiCase, type ApiCaseContext, compare } from "../control-plane/api-case.ts";
import type { ApiServer } from "../control-plane/api-server.ts";
import { type Connection, connect, expectStatus } from "../control-plane/connection.ts";
import type { Measure, Unit } from "../measure.ts";

/** As often as a node agent renews its lease. */
const RENEWAL_MS = 10_000;
const AT_A_TIME = 16;
const WARM_UP_MS = 2_000;
const LEASES_PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const MERGE = { method: "PATCH", contentType: "application/merge-patch+json" } as const;

/** Ever more nodes that do nothing but renew their leases. */
export const growNodes: ApiCase = async (context) => {
  const [program] = context.programs;
  if (program === undefined) return [];
  const { sizes, signal, progress } = context;
  const server = await program.start(await context.makeDirectory(), signal);
  const connection = connect(server.endpoint, { protocol: "HTTP/2", connections: 4 });
  const measures: Measure[] = [];
  const names: string[] = [];
  try {
    for (const nodes of sizes.growNodes) {
      progress(`${nodes} nodes`);
      const added = Array.from({ length: nodes - names.length }, (_, index) => `simulated-${names.length + index}`);
      for (let begin = 0; begin < added.length; begin += AT_A_TIME) {
        signal.throwIfAborted();
        await Promise.all(
          added.slice(begin, begin + AT_A_TIME).map(async (name) => await createNode(connection, name)),
        );
      }
      names.push(...added);
      // Nothing counts of the first round: nodes are new to the controllers.
      await renewInTurns(context, { connection, names, spreadMs: WARM_UP_MS });
      const { cpuShare, times } = await measureRenewals(context, { server, connection, names });
      const of = (name: string, unit: Unit, values: readonly number[]) => ({
        ...compare(context, { case: "grow-nodes", name, unit, values: [values] }),
        at: { of: "nodes", value: nodes },
      });
      measures.push(
        of("a lease renewed", "ms", times),
        of("the server's CPU", "% of a core", [cpuShare]),
        of("resident", "MiB", [(await server.readMemory()).resident]),
      );
    }
    return measures;
  } finally {
    connection.close();
    await server.stop();
  }
};

interface Renewed {
  server: ApiServer;
  connection: Connection;
  names: readonly string[];
}

async function measureRenewals(context: ApiCaseContext, { server, connection, names }: Renewed) {
  const [begun, cpuMs] = [performance.now(), await server.readCpuMs()];
  const times = await renewInTurns(context, { connection, names, spreadMs: RENEWAL_MS });
  return { cpuShare: (100 * ((await server.readCpuMs()) - cpuMs)) / (performance.now() - begun), times };
}

/** Each once, spread over that time. */
async function renewInTurns(
  { signal }: ApiCaseContext,
  { connection, names, spreadMs }: Pick<Renewed, "connection" | "names"> & { spreadMs: number },
): Promise<number[]> {
  const begun = performance.now();
  const times: number[] = [];
  const renewals: Promise<void>[] = [];
  for (const [index, name] of names.entries()) {
    const dueMs = begun + (index * spreadMs) / names.length - performance.now();
    if (dueMs > 0) await delay(dueMs, undefined, { signal });
    renewals.push(
      renew(connection, name).then((ms) => {
        times.push(ms);
      }),
    );
  }
  await Promise.all(renewals);
  await delay(Math.max(0, begun + spreadMs - performance.now()), undefined, { signal });
  return times;
}

async function renew(connection: Connection, name: string): Promise<number> {
  const begun = performance.now();
  const body = JSON.stringify({ spec: { renewTime: microtime() } });
  expectStatus(await connection.request({ ...MERGE, path: `${LEASES_PATH}/${name}`, body }), 200);
  return performance.now() - begun;
}

async function createNode(connection: Connection, name: string): Promise<void> {
  const post = async (path: string, object: object) =>
    expectStatus(await connection.request({ method: "POST", path, body: JSON.stringify(object) }), 201);
  const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady" }];
  await post("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name }, status: { conditions } });
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microtime() };
  await post(LEASES_PATH, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec });
}

function microtime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
