import { once } from "node:events";
import { createServer, connect as dial, type Server } from "node:net";
import { setImmediate } from "node:timers/promises";
import { isRecord } from "../../src/api/object.ts";
import { type Connection, expectStatus } from "../control-plane/connection.ts";
import { timed } from "../measure.ts";
import { callForEach, createObject, removeAll } from "./objects.ts";
import type { UpCase, UpCaseContext } from "./up-case.ts";

const SERVICES_PATH = "/api/v1/namespaces/bench/services";
const SLICES_PATH = "/apis/discovery.k8s.io/v1/namespaces/bench/endpointslices";
const ENDPOINTS = 10;
const PORT = 80;
const ATTEMPT_MS = 1_000;
const TIMEOUT_MS = 120_000;
/** Nobody is asked at these: a range for documentation. */
const AWAY = "198.51.100";

/** How soon a change of one endpoint leads connections elsewhere, alone and beside thousands of services. */
export const upEndpoints: UpCase = async (context) => {
  const { world, sizes, progress } = context;
  const address = await readNodeAddress(world.connection);
  const servers = await Promise.all(["a", "b"].map(async (letter) => await answerWith(letter, address)));
  try {
    progress("alone");
    const clusterIP = await createService(world.connection, "watched", {
      addresses: [address],
      port: portOf(servers[0]),
    });
    const alone = await measureChanges(context, clusterIP, servers);
    progress(`creating ${sizes.upServices} services`);
    await callForEach(sizes.upServices, async (index) => {
      const addresses = Array.from({ length: ENDPOINTS }, (_, endpoint) => `${AWAY}.${(index + endpoint) % 250}`);
      await createService(world.connection, `other-${index}`, { addresses, port: PORT });
    });
    progress(`beside ${sizes.upServices} services`);
    const beside = await measureChanges(context, clusterIP, servers);
    await removeAll(world.connection, SERVICES_PATH);
    const of = { case: "up-endpoints" } as const;
    const name = "an endpoint changed → connections go there";
    const many = `${name}, beside ${sizes.upServices} services of ${ENDPOINTS}`;
    return [
      timed({ ...of, name: `${name}, alone` }, alone),
      timed({ ...of, name: many, target: { of: "value", median: 30 } }, beside),
    ];
  } finally {
    for (const server of servers) server.close();
  }
};

/** Lets the endpoint have one port and the other in turn. The first changes are not counted: they follow a pause. */
async function measureChanges(
  { world, sizes, signal }: UpCaseContext,
  host: string,
  servers: readonly Server[],
): Promise<number[]> {
  const samples: number[] = [];
  for (let change = -2; change < sizes.endpointChanges; change++) {
    const at = (change + 2) % 2;
    const calledAt = performance.now();
    await movePort(world.connection, portOf(servers[at]));
    const seenAt = await untilAnswered(host, at === 0 ? "a" : "b", signal);
    if (change >= 0) samples.push(seenAt - calledAt);
  }
  return samples;
}

async function untilAnswered(host: string, letter: string, signal: AbortSignal): Promise<number> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    if ((await ask(host)) === letter) return performance.now();
    await setImmediate();
  }
  throw new Error(`connections to ${host} do not lead to ${letter} in ${TIMEOUT_MS / 1_000} s`);
}

/** What the server says; "" where there is none. */
async function ask(host: string): Promise<string> {
  return await new Promise((resolve) => {
    const socket = dial({ host, port: PORT, timeout: ATTEMPT_MS });
    let said = "";
    socket.on("data", (chunk) => {
      said += chunk.toString("latin1");
    });
    socket.on("timeout", () => socket.destroy());
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(said));
  });
}

async function answerWith(letter: string, address: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end(letter);
  }).listen(0, address);
  await once(server, "listening");
  return server;
}

function portOf(server: Server | undefined): number {
  const address = server?.address();
  if (typeof address !== "object" || address === null) throw new TypeError("the server does not listen");
  return address.port;
}

interface Behind {
  readonly addresses: readonly string[];
  readonly port: number;
}

/** Creates a service and its endpoints, which no controller makes. Returns its address. */
async function createService(connection: Connection, name: string, { addresses, port }: Behind): Promise<string> {
  const service = { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port: PORT }] } };
  const made = await connection.request({ method: "POST", path: SERVICES_PATH, body: JSON.stringify(service) });
  const { metadata, spec }: CreatedService = JSON.parse(expectStatus(made, 201));
  await createObject(connection, SLICES_PATH, {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
    metadata: {
      name,
      labels: { "kubernetes.io/service-name": name },
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name, uid: metadata.uid }],
    },
    endpoints: addresses.map((address) => ({ addresses: [address] })),
    ports: [{ port }],
  });
  return spec.clusterIP;
}

interface CreatedService {
  metadata: { uid: string };
  spec: { clusterIP: string };
}

async function movePort(connection: Connection, port: number): Promise<void> {
  const change = { method: "PATCH", contentType: "application/merge-patch+json" } as const;
  const call = { ...change, path: `${SLICES_PATH}/watched`, body: JSON.stringify({ ports: [{ port }] }) };
  expectStatus(await connection.request(call), 200);
}

async function readNodeAddress(connection: Connection): Promise<string> {
  const reply = await connection.request({ method: "GET", path: "/api/v1/nodes" });
  const { items }: { items: Array<{ status?: { addresses?: unknown[] } }> } = JSON.parse(expectStatus(reply, 200));
  const addresses = items.flatMap(({ status }) => status?.addresses ?? []).filter(isRecord);
  const own = addresses.find(({ type }) => type === "InternalIP")?.["address"];
  if (typeof own !== "string") throw new Error("the node has told no address");
  return own;
}
