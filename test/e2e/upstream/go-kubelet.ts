import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { runCommand } from "../../../src/cluster/processes/run-command.ts";
import { goKubeletConfiguration } from "../../clusters/go-kubelet-configuration.ts";
import type { NodeCluster } from "../../clusters/node-cluster.ts";
import { claimPort } from "../../machine/claims.ts";
import { type ClusterNode, createNodeOf, NODE_NAME } from "../cluster/cluster-node.ts";
import { createVolumeHost, type VolumeHost } from "../volumes/volume-node.ts";
import type { UpstreamCluster } from "./upstream-cluster.ts";
import { type RunningUpstream, startUpstream, type UpstreamProgram } from "./upstream-program.ts";

/** A node whose agent may be ours (`node.start(flags)`) or a Go kubelet, on the same directories and containerd. */
export interface UpstreamNode<Cluster extends NodeCluster = UpstreamCluster> extends ClusterNode<Cluster>, VolumeHost {
  /** Starts the Go kubelet, and waits until it has updated the node's status. */
  startKubelet(program: UpstreamProgram): Promise<GoKubelet>;
  /** Writes a static pod's manifest in one step, as the Go kubelet wants it. */
  writeManifest(file: string, pod: object): Promise<void>;
  /** Deletes the pod, waits for its end, and gives what is left of it. */
  end(name: string): Promise<string[]>;
}

/** A Go kubelet that runs. */
export interface GoKubelet extends RunningUpstream {
  /** Waits until its log says it. */
  logged(words: RegExp, timeoutMs?: number): Promise<void>;
}

const READY_TIMEOUT_MS = 60_000;
const END_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
/** Kubelets before 1.29 know no other place for the logs of pods. */
const POD_LOGS = "/var/log";
/** Where the Go kubelet serves device plugins, whatever its root directory is. */
const KUBELET_DIRECTORY = "/var/lib/kubelet";

/** What both node agents are configured with: the machine is not what is looked at, and others run on it. */
const CONFIGURATION = {
  podLogsDir: "/var/log/pods",
  makeIPTablesUtilChains: false,
  failSwapOn: false,
  evictionHard: { "memory.available": "0%", "nodefs.available": "0%", "imagefs.available": "0%" },
};

export async function createUpstreamNode<Cluster extends NodeCluster>(
  cluster: Cluster,
  configuration: object = {},
): Promise<UpstreamNode<Cluster>> {
  const common = { ...CONFIGURATION, ...configuration };
  const world = await createNodeOf(cluster, { configuration: common });
  const { node } = world;
  const host = await createVolumeHost(node);
  await useOwnDirectories(node.directory, node.containerd.enterMountNamespace);
  const running: GoKubelet[] = [];
  return {
    ...world,
    ...host,
    async startKubelet(program) {
      const logFile = join(node.directory, "go-kubelet.log");
      // Another root could be that of other pods of this machine; this one comes from the node under test.
      const cgroups = node.cgroup ?? { cgroupsPerQOS: false, enforceNodeAllocatable: [] };
      const args = await writeConfiguration(world, program, { ...cgroups, ...common });
      const enter = node.containerd.enterMountNamespace;
      const since = Date.now();
      const started = startUpstream({ program, args, logFile, enter });
      const kubelet = { ...started, logged: async (words: RegExp, ms = 30_000) => await logged(started, words, ms) };
      running.push(kubelet);
      await untilReady(world, started, since);
      return kubelet;
    },
    async writeManifest(file, pod) {
      const path = join(node.directory, file);
      await writeFile(path, JSON.stringify(pod));
      await rename(path, join(node.manifests, file));
    },
    async end(name) {
      const uid = (await world.read(name))?.metadata?.uid ?? "";
      await world.remove(name);
      await world.gone(name, END_TIMEOUT_MS);
      return await host.leftovers(uid);
    },
    async destroy() {
      for (const kubelet of running) await kubelet.kill();
      await world.destroy();
    },
  };
}

/**
 * In containerd's mount namespace, what a Go kubelet has at fixed places is the test's own: it removes logs of pods that
 * it does not know, and others run on this machine.
 */
async function useOwnDirectories(directory: string, enter: readonly string[]): Promise<void> {
  const [nsenter, ...args] = enter;
  if (nsenter === undefined) throw new Error("this machine's / is shared: a Go kubelet would touch logs of its pods");
  for (const [path, made] of [
    [POD_LOGS, ["pods", "containers"]],
    [KUBELET_DIRECTORY, []],
  ] as const) {
    const own = join(directory, "own", path);
    for (const name of ["", ...made]) await mkdir(join(own, name), { recursive: true });
    await mkdir(path, { recursive: true });
    await runCommand(nsenter, [...args, "mount", "--bind", own, path]);
  }
}

async function writeConfiguration(
  { node, flags }: Pick<ClusterNode, "node" | "flags">,
  program: UpstreamProgram,
  common: object,
): Promise<string[]> {
  const port = await claimPort();
  const configuration = {
    ...goKubeletConfiguration(port),
    clusterDNS: ["10.96.0.10"],
    clusterDomain: "cluster.local",
    staticPodPath: node.manifests,
    volumePluginDir: join(node.directory, "volume-plugins"),
    contentType: "application/json",
    ...common,
    ...(program.minor >= 35 && { failCgroupV1: false }),
    // Sidecars are an alpha feature until 1.29.
    ...(program.minor === 28 && { featureGates: { SidecarContainers: true } }),
    ...(program.minor >= 27 && { containerRuntimeEndpoint: node.containerd.endpoint }),
  };
  const path = join(node.directory, "go-kubelet.json");
  await writeFile(path, JSON.stringify(configuration));
  return [
    `--config=${path}`,
    `--root-dir=${join(node.directory, "kubelet")}`,
    `--hostname-override=${NODE_NAME}`,
    ...flags,
    ...(program.minor < 27 ? [`--container-runtime-endpoint=${node.containerd.endpoint}`] : []),
    "--v=2",
  ];
}

/** The node's lease is renewed, and its status says that it is ready. */
async function untilReady({ api }: Pick<ClusterNode, "api">, kubelet: RunningUpstream, since: number): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    kubelet.alive();
    const { status, body } = await api.json("GET", `/api/v1/nodes/${NODE_NAME}`);
    const lease = await api.json("GET", `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NODE_NAME}`);
    const { spec }: { spec?: { renewTime?: string } } = Object(lease.body);
    const { status: node }: { status?: { conditions?: Array<{ type: string; status: string }> } } = Object(body);
    const isReady = node?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
    if (status === 200 && isReady && Date.parse(spec?.renewTime ?? "") >= since) return;
    if (Date.now() > deadline) throw new Error(`the kubelet is not ready:\n${kubelet.log().slice(-6_000)}`);
    await delay(POLL_MS);
  }
}

async function logged(kubelet: RunningUpstream, words: RegExp, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!words.test(kubelet.log())) {
    kubelet.alive();
    if (Date.now() > deadline) throw new Error(`not logged: ${words}\n${kubelet.log().slice(-4_000)}`);
    await delay(POLL_MS);
  }
}
