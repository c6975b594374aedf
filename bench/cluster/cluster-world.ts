import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { runAll } from "../../src/base/errors.ts";
import { issueKubeconfig } from "../../src/cluster/control-plane/issue-kubeconfig.ts";
import type { Builds } from "../case-run.ts";
import { type Connection, connect, expectStatus } from "../control-plane/connection.ts";
import { nodeletProgram } from "../control-plane/nodelet.ts";
import { prepareNamespace } from "../control-plane/workload.ts";
import { createFloor, type Floor } from "../floor.ts";
import { createWorld, type World } from "../world.ts";
import type { Api } from "./cluster-case.ts";
import { kubeletNode } from "./kubelet-node.ts";
import type { NodeProgram } from "./node-program.ts";
import { nodeletNode } from "./nodelet-node.ts";
import { openWatch } from "./object-watch.ts";
import { PODS_PATH } from "./pods.ts";

/** A containerd and an API server of the bench's own, and the node agents that can join it. */
interface ClusterWorld {
  world: World;
  floor: Floor;
  api: Api;
  programs: readonly NodeProgram[];
  /** Ends all of it and removes everything that was made. */
  destroy(): Promise<void>;
}

const CREDENTIALS_LIFETIME_MS = 24 * 60 * 60 * 1_000;
const ROOT_CERTIFICATES_PATH = "/api/v1/namespaces/bench/configmaps/kube-root-ca.crt";
const POLL_MS = 20;
const TIMEOUT_MS = 10_000;

/** The API server is the first build's; each build is a node, and so is the Go kubelet where `KUBELET_BIN` names one. */
export async function createClusterWorld(
  builds: Builds,
  signal: AbortSignal,
  makeWorld: () => Promise<World> = createWorld,
): Promise<ClusterWorld> {
  const world = await makeWorld();
  const teardown = [async () => await world.destroy()];
  const destroy = async () => await runAll(teardown.toReversed(), "ending the bench's cluster");
  try {
    const directory = join(world.directory, "cluster");
    const server = await nodeletProgram(builds[0]).start(directory, signal);
    teardown.push(async () => await server.stop());
    const { host, port, caPem } = server.endpoint;
    const connections = [1, 2, 3].map(() => connect(server.endpoint, { protocol: "HTTP/2", connections: 1 }));
    teardown.push(async () => {
      for (const connection of connections) connection.close();
    });
    const [connection, forPods, forNodes] = connections;
    if (!connection || !forPods || !forNodes) throw new TypeError("three connections were made");
    await prepareNamespace(connection);
    await untilThere(connection, ROOT_CERTIFICATES_PATH);
    const pods: Api["pods"] = await openWatch(forPods, PODS_PATH);
    const nodes: Api["nodes"] = await openWatch(forNodes, "/api/v1/nodes");
    const api = { connection, pods, nodes, readCpuMs: server.readCpuMs };
    const keyPem = await readFile(join(directory, "control-plane", "pki", "ca.key"), "utf8");
    const issue = async (nodeName: string) => {
      const user = { name: `system:node:${nodeName}`, groups: ["system:nodes"], lifetimeMs: CREDENTIALS_LIFETIME_MS };
      const authority = { certificatePem: caPem, keyPem };
      const kubeconfig = join(directory, `${nodeName}.kubeconfig`);
      const text = await issueKubeconfig({ authority, trustedPem: caPem }, { url: `https://${host}:${port}`, ...user });
      await writeFile(kubeconfig, text, { mode: 0o600 });
      return { kubeconfig, directory: join(directory, nodeName) };
    };
    const context = { world, api, signal };
    const programs: NodeProgram[] = [];
    for (const build of builds) programs.push(await nodeletNode(context, { build, ...(await issue(build.name)) }));
    const binary = process.env["KUBELET_BIN"] ?? "";
    if (binary !== "" && builds.length === 1)
      programs.push(await kubeletNode(context, { binary, ...(await issue("kubelet")) }));
    return {
      world,
      floor: await createFloor(world, await world.makePlace({ ...builds[0], name: "floor-facts" })),
      api,
      programs,
      destroy,
    };
  } catch (error) {
    await destroy();
    throw error;
  }
}

/** A controller makes it. */
async function untilThere(connection: Connection, path: string): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const reply = await connection.request({ method: "GET", path });
    if (reply.status === 200 || performance.now() > deadline) return void expectStatus(reply, 200);
    await delay(POLL_MS);
  }
}
