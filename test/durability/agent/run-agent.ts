import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { PODS } from "../../../src/api/kube-resource.ts";
import { runAll } from "../../../src/base/errors.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { startCluster } from "../../../src/testing/start-cluster.ts";
import { type ApiClient, createApiClient } from "../../contract/api/client.ts";
import { createNodeUnderTest, type NodeUnderTest } from "../../e2e/node-under-test.ts";
import { findDoubles, readRunningContainers } from "../../e2e/runtime-state.ts";
import type { Mode } from "../mode.ts";
import { buildProgram } from "../program.ts";
import { POD_COUNT, probedPod } from "./pods.ts";
import { PODS_PATH, type PodWatch, watchPods } from "./watch-pods.ts";

const NODE_NAME = "e2e";
const READY_LIMIT_MS = 120_000;
const POLL_MS = 100;
/** The others are killed while the node agent starts. */
const SHARE_KILLED_WHEN_READY = 0.6;
const LONGEST_RUN_MS = 1_500;
/** A node whose lease nobody renews counts as lost after 40 s, which the control plane then rightly says of its pods. */
const MAX_STARTS_CUT_SHORT = 5;

interface Counts {
  kills: number;
  killsWhileStarting: number;
  events: number;
  flips: number;
}

/**
 * Kills the built node agent, which has ten pods with probes of all kinds on a containerd of its own. A watcher of the
 * API must see no pod that is not ready and no container that is another one. Needs root and containerd.
 */
export const agentMode: Mode = ({ times, seed }) => {
  const counts: Counts = { kills: 0, killsWhileStarting: 0, events: 0, flips: 0 };
  return {
    describe: () => {
      const { kills, killsWhileStarting, events, flips } = counts;
      return `${kills} kills of the agent (${killsWhileStarting} while it started), ${events} pod events, ${flips} flips`;
    },
    async run() {
      if (process.geteuid?.() !== 0)
        return console.log("SKIPPED kills of the node agent: they need root and containerd");
      buildProgram();
      const cluster = await startCluster();
      const api = createApiClient(await cluster.addUser("durability", ["system:masters"]).then(accessOf));
      try {
        const { kubeconfigPath } = await cluster.addUser(`system:node:${NODE_NAME}`, ["system:nodes"]);
        await useNode(api, kubeconfigPath, async (node, flags) => {
          await makePods(api);
          await killMany({ node, flags, api, counts }, times, seed);
        });
      } finally {
        api.close();
        await cluster.stop();
      }
    },
  };
};

async function useNode(
  api: ApiClient,
  kubeconfigPath: string,
  use: (node: NodeUnderTest, flags: readonly string[]) => Promise<void>,
): Promise<void> {
  const node = await createNodeUnderTest();
  try {
    const flags = [`--kubeconfig=${kubeconfigPath}`, `--cert-dir=${join(node.directory, "pki")}`];
    await node.start(flags);
    await use(node, flags);
  } finally {
    const remove = async () => void (await api.json("DELETE", `${PODS_PATH}?gracePeriodSeconds=0`));
    await runAll([remove, () => node.destroy()], "removing the node");
  }
}

async function makePods(api: ApiClient): Promise<void> {
  for (let index = 0; index < POD_COUNT; index++) await api.object("POST", PODS_PATH, probedPod(index, NODE_NAME));
  const deadline = Date.now() + READY_LIMIT_MS;
  for (;;) {
    const { items } = await api.list(PODS_PATH);
    const ready = items.filter((item) => {
      return PODS.read(item).status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    });
    if (ready.length === POD_COUNT) return;
    if (Date.now() > deadline) throw new Error(`${ready.length} pods of ${POD_COUNT} are ready`);
    await delay(POLL_MS);
  }
}

interface Killing {
  readonly node: NodeUnderTest;
  readonly flags: readonly string[];
  readonly api: ApiClient;
  readonly counts: Counts;
}

async function killMany({ node, flags, api, counts }: Killing, times: number, seed: number): Promise<void> {
  const random = createSeededRandom(seed);
  const before = await readRunningContainers(node);
  const watch = await watchPods(api);
  let startMs = 1_000;
  let cutShort = 0;
  await node.kill();
  while (counts.kills < times) {
    const isWhenReady = random.next() < SHARE_KILLED_WHEN_READY || cutShort >= MAX_STARTS_CUT_SHORT;
    const moment = random.next();
    const startedAt = performance.now();
    const starting = node.start(flags);
    if (isWhenReady) {
      await starting;
      startMs = performance.now() - startedAt;
      await delay(moment * LONGEST_RUN_MS);
    } else {
      starting.catch(() => undefined);
      await delay(moment * startMs);
      counts.killsWhileStarting++;
    }
    cutShort = isWhenReady ? 0 : cutShort + 1;
    await node.kill();
    await starting.catch(() => undefined);
    counts.kills++;
    counts.events = watch.events;
    counts.flips = watch.flips.length;
    if (watch.flips.length > 0) throw new Error(`at kill ${counts.kills}: ${watch.flips.join("; ")}`);
  }
  await node.start(flags);
  await proveAlive(api, watch);
  counts.events = watch.events;
  await watch.stop();
  const after = await readRunningContainers(node);
  const [was, is] = [before, after].map((containers) => JSON.stringify(containers.map(({ id, pid }) => [id, pid])));
  if (was !== is) throw new Error(`the containers are others: ${was} and now ${is}`);
  const doubles = await findDoubles(node);
  if (doubles.length > 0) throw new Error(`what must run once runs twice: ${doubles.join()}`);
}

/** A watch that sees nothing for minutes may be one that does not see. */
async function proveAlive(api: ApiClient, watch: PodWatch): Promise<void> {
  const seen = watch.events;
  await api.patch("merge", `${PODS_PATH}/probed-0`, { metadata: { annotations: { seen: "true" } } });
  const deadline = Date.now() + READY_LIMIT_MS;
  while (watch.events === seen) {
    if (Date.now() > deadline) throw new Error("the watch does not tell of a change");
    await delay(POLL_MS);
  }
  if (watch.flips.length > 0) throw new Error(watch.flips.join("; "));
}

function accessOf(access: { url: string; kubeconfig: string }) {
  const pem = (field: string) => {
    const text = new RegExp(`${field}: ["']?([A-Za-z0-9+/=]+)`).exec(access.kubeconfig)?.[1] ?? "";
    return Buffer.from(text, "base64").toString();
  };
  return {
    url: access.url,
    caPem: pem("certificate-authority-data"),
    certificatePem: pem("client-certificate-data"),
    keyPem: pem("client-key-data"),
  };
}
