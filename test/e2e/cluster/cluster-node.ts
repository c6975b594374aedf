import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

import type { Event, Node, Pod } from "../../../src/api/gen/types.ts";
import { EVENTS, NODES, PODS } from "../../../src/api/kube-resource.ts";
import { messageOf, runAll } from "../../../src/base/errors.ts";
import { type ClusterServer, type ClusterServerOptions, OUR_SERVER } from "../../clusters/cluster-servers.ts";
import type { NodeCluster, ServedCluster } from "../../clusters/node-cluster.ts";
import { type ApiClient, createApiClient } from "../../contract/api/client.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";
import { createNodeUnderTest, type NodeUnderTest, type NodeUnderTestOptions } from "../node-under-test.ts";

/** The name of the node under test. */
export const NODE_NAME = "e2e";

/** An API server and, joined to it, the built program on a containerd of its own. */
export interface ClusterNode<Cluster extends NodeCluster = ServedCluster> {
  readonly cluster: Cluster;
  /** May do everything. */
  readonly api: ApiClient;
  readonly node: NodeUnderTest;
  /** Flags by which the node agent joins; what `node.start` needs. */
  readonly flags: readonly string[];
  /** Creates a pod on the node, in `default` where it names no namespace. */
  create(pod: object): Promise<Pod>;
  read(name: string): Promise<Pod | undefined>;
  /** The pod in the API once `until` holds. Fails with what is known of it when it does not in time. */
  pod(name: string, until: (pod: Pod) => boolean, timeoutMs?: number): Promise<Pod>;
  gone(name: string, timeoutMs?: number): Promise<void>;
  /** Asks for the pod's end, with its own grace period where none is given. */
  remove(name: string, gracePeriodSeconds?: number): Promise<void>;
  /** Begins to watch the pod. `ended` gives every version up to its last, when the object goes. */
  follow(name: string): Promise<{ ended: Promise<Pod[]> }>;
  events(name: string): Promise<Event[]>;
  /** The event about the object of this name that has these fields, once it is there. */
  event(name: string, fields: Partial<Event>): Promise<Event>;
  /** What a command prints in a running container of the pod, `main` where none is named. Rejects unless it succeeds. */
  exec(name: string, command: readonly string[], container?: string): Promise<string>;
  /** What `sh -c script` prints in the pod's container `main`. */
  shell(name: string, script: string): Promise<string>;
  /** The node's own object. */
  nodeObject(): Promise<Node>;
  destroy(): Promise<void>;
}

/** Each question costs some milliseconds, and four files of tests share two processors. */
const POLL_MS = 50;
const WAIT_TIMEOUT_MS = 60_000;
const MAX_LOG_LINES = 40;
const EXEC_TIMEOUT_SECONDS = 10n;
const PODS_PATH = "/api/v1/namespaces/default/pods";

/** How the node reaches its cluster. */
interface JoinOptions extends NodeUnderTestOptions {
  /** Default: the server's own URL. */
  serverUrl?: string;
}

/** The node, and of which cluster it is. */
interface ClusterNodeOptions extends NodeUnderTestOptions, ClusterServerOptions {
  /** Default: nodelet's own. */
  server?: ClusterServer;
}

/** Starts the cluster and builds the node, which `node.start(flags)` starts. */
export async function createClusterNode(options: ClusterNodeOptions = {}): Promise<ClusterNode> {
  const { server = OUR_SERVER, ...rest } = options;
  return await createNodeOf(await server.start(rest), rest);
}

/** As `createClusterNode`, for a cluster that runs already; `destroy` stops it too. */
export async function createNodeOf<Cluster extends NodeCluster>(
  cluster: Cluster,
  options: JoinOptions = {},
): Promise<ClusterNode<Cluster>> {
  const api = createApiClient(credentialsOf(cluster.kubeconfig));
  const node = await createNodeUnderTest(options);
  const { kubeconfig } = await cluster.addUser(`system:node:${NODE_NAME}`, ["system:nodes"]);
  const kubeconfigPath = join(node.directory, "kubeconfig");
  const { serverUrl = cluster.url } = options;
  await writeFile(kubeconfigPath, kubeconfig.replaceAll(cluster.url, serverUrl), { mode: 0o600 });

  const read = async (name: string): Promise<Pod | undefined> => {
    const answer = await api.json("GET", `${PODS_PATH}/${name}`);
    if (answer.status === 404) return undefined;
    return PODS.read(answer.body);
  };
  const events = async (name: string): Promise<Event[]> => {
    const { items } = await api.list("/api/v1/namespaces/default/events", {
      fieldSelector: `involvedObject.name=${name}`,
    });
    return items.map((item) => EVENTS.read(item));
  };
  const explain = async (name: string): Promise<string> => {
    const pod = await read(name);
    const uid = pod?.metadata?.uid ?? name;
    const told = (await events(name)).map(({ reason, message, count }) => `${reason}: ${message} (x${count})`);
    const log = node.log();
    const logged = log.split("\n").filter((line) => line.includes(name) || line.includes(uid));
    const object = [{ ...pod?.metadata, managedFields: [] }, pod?.status].map((part) => JSON.stringify(part));
    return [...object, ...told, ...logged.slice(-MAX_LOG_LINES), "…", log.slice(-2_000)].join("\n");
  };
  const until = async (name: string, holds: () => Promise<boolean>, timeoutMs: number, what: string): Promise<void> => {
    const deadline = Date.now() + timeoutMs;
    while (!(await holds())) {
      if (Date.now() > deadline) {
        const why = await explain(name).catch(messageOf);
        throw new Error(`pod ${name}: not in ${timeoutMs} ms: ${what}\n${why}`);
      }
      await delay(POLL_MS);
    }
  };

  const exec: ClusterNode["exec"] = async (name, cmd, container = "main") => {
    const status = (await read(name))?.status ?? {};
    const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
    const statuses = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
    const found = statuses.find((status) => status.name === container);
    const containerId = found?.containerID?.split("://")[1] ?? "";
    const request = { containerId, cmd: [...cmd], timeout: EXEC_TIMEOUT_SECONDS };
    const { stdout, stderr, exitCode } = await node.cri.runtime.execSync(request);
    const [output, errors] = [stdout, stderr].map((bytes) => Buffer.from(bytes).toString("utf8"));
    if (exitCode !== 0) throw new Error(`${cmd.join(" ")} in ${name} ended with ${exitCode}: ${errors}`);
    return output ?? "";
  };

  return {
    cluster,
    api,
    node,
    flags: [`--kubeconfig=${kubeconfigPath}`, `--cert-dir=${join(node.directory, "pki")}`],
    async create(pod) {
      const { spec, ...rest } = PODS.read(pod);
      const bound = { ...rest, spec: { ...spec, nodeName: NODE_NAME } };
      return PODS.read(await api.object("POST", PODS_PATH, bound));
    },
    read,
    async pod(name, holds, timeoutMs = WAIT_TIMEOUT_MS) {
      let found: Pod | undefined;
      const look = async () => {
        found = await read(name);
        return found !== undefined && holds(found);
      };
      await until(name, look, timeoutMs, holds.toString());
      if (found === undefined) throw new Error("unreachable: the wait ended without a pod");
      return found;
    },
    gone: async (name, timeoutMs = WAIT_TIMEOUT_MS) =>
      await until(name, async () => (await read(name)) === undefined, timeoutMs, "gone"),
    async remove(name, gracePeriodSeconds) {
      const options = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      await api.object("DELETE", `${PODS_PATH}/${name}`, { apiVersion: "v1", kind: "DeleteOptions", ...options });
    },
    async follow(name) {
      const resourceVersion = (await read(name))?.metadata?.resourceVersion ?? "";
      const stream = await api.watch(PODS_PATH, { fieldSelector: `metadata.name=${name}`, resourceVersion });
      const readVersions = async (): Promise<Pod[]> => {
        try {
          const events = await stream.until(({ type }) => type === "DELETED");
          return events.map(({ object }) => PODS.read(object));
        } finally {
          stream.close();
        }
      };
      const ended = readVersions();
      // The caller that awaits it hears of a failure; until then the failure must not end the process.
      ended.catch(() => undefined);
      return { ended };
    },
    events,
    async event(name, fields) {
      let found: Event | undefined;
      const look = async () => {
        found = (await events(name)).find((event) => isDeepStrictEqual({ ...event, ...fields }, event));
        return found !== undefined;
      };
      await until(name, look, WAIT_TIMEOUT_MS, `an event ${JSON.stringify(fields)}`);
      if (found === undefined) throw new Error("unreachable: the wait ended without an event");
      return found;
    },
    exec,
    shell: async (name, script) => await exec(name, ["sh", "-c", script]),
    nodeObject: async () => NODES.read(await api.object("GET", `/api/v1/nodes/${NODE_NAME}`)),
    async destroy() {
      await runAll(
        [async () => await node.destroy(), () => api.close(), async () => await cluster.stop()],
        "removing the node and its cluster",
      );
    },
  };
}
