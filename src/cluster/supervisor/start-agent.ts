import { mkdir } from "node:fs/promises";
import type { Log } from "../../base/log.ts";
import { bridgeAddressOf } from "../containerd/ensure-bridge.ts";
import { type ChildLogging, loggingArguments } from "../processes/child-logging.ts";
import { type Daemon, endDaemon, startDaemon } from "../processes/daemon.ts";
import { ensureFile } from "../processes/ensure-file.ts";
import { computeProgramWords, computeRunTimeFlags, RUN_TIME_ENVIRONMENT } from "../processes/run-time.ts";
import { untilReady } from "../processes/until-ready.ts";
import { readNodeReport } from "../status/node-report.ts";
import { choosePort, withChosenPort } from "./choose-port.ts";
import { chooseResolvConf } from "./choose-resolv-conf.ts";
import { CLUSTER_DOMAIN } from "./cluster-dns.ts";
import { computeKubeletConfig } from "./kubelet-config.ts";
import { makeOwnCgroup } from "./own-cgroup.ts";
import { readPodPlaces } from "./pod-places.ts";
import type { PodPlaces, StateLayout } from "./state-layout.ts";

export interface AgentOptions {
  /** The JavaScript file that this program was started with. */
  entry: string;
  /** The flags of Node.js for the agent. Default: those of this process. */
  nodeFlags?: readonly string[];
  endpoint: string;
  /** The command prefix under which containerd runs: the agent must see the same mounts. */
  enterMountNamespace: readonly string[];
  manifests: string;
  healthzPort: number;
  /**
   * The address on which the node's own API listens, on port 10250 unless that is taken. Default: the API is not
   * served.
   */
  serverAddress?: string;
  /**
   * The addresses of pods. Where `serverAddress` is of loopback, the API listens on all addresses for them and for this
   * machine. Default: it listens on `serverAddress` alone.
   */
  podCidr?: string;
  /** The port that is wanted instead of 10250; 0 means any free one, for nodes that start at the same time. */
  serverPort?: number;
  /** Default: the name of the machine, or what the flags say. */
  nodeName?: string;
  /** The address of the cluster's DNS, which pods ask. Default: they ask the machine's name servers. */
  clusterDns?: string | undefined;
  /** Our DNS server answers pods at the bridge's address. */
  dns: boolean;
  /** The thresholds below which pods are evicted, instead of those of `up`. */
  evictionHard?: Readonly<Record<string, string>>;
  /** Further kubelet flags, after ours. */
  kubeletArguments: readonly string[];
  /** How the child logs. Default: text, with verbosity 0. */
  logging?: ChildLogging;
  log: Log;
  /** Firing it gives up the wait for the agent, which is then stopped. */
  signal: AbortSignal;
}

const KUBELET_PORT = 10_250;
const STOP_GRACE_PERIOD_MS = 10_000;

/** Starts the node agent and resolves when it answers. Rejects with `exited` or `start-timed-out` and the log's end. */
export async function startAgent(layout: StateLayout, options: AgentOptions): Promise<Daemon> {
  return await withChosenPort(async () => await launch(layout, options));
}

async function launch(layout: StateLayout, options: AgentOptions): Promise<Daemon> {
  const places = await readPodPlaces(layout.directory);
  await mkdir(places.kubeletRoot, { recursive: true, mode: 0o750 });
  await mkdir(places.podLogs, { recursive: true, mode: 0o755 });
  const { endpoint, manifests, healthzPort } = options;
  const server = await chooseServer(layout, options);
  const cgroup = await makeOwnCgroup(layout.directory, options.log);
  const config = computeKubeletConfig({
    endpoint,
    manifests,
    podLogs: places.podLogs,
    healthzPort,
    server,
    cgroup,
    dns: options.clusterDns === undefined ? undefined : { address: options.clusterDns, domain: CLUSTER_DOMAIN },
    resolvConf: await chooseResolvConf({ file: layout.resolvConf, ownServer: ownDnsServer(options) }),
    evictionHard: options.evictionHard,
  });
  await ensureFile(layout.kubeletConfig, config);
  const [command = process.execPath, ...args] = [
    ...options.enterMountNamespace,
    ...agentCommand(layout, places, options),
  ];
  // Node.js would load these certificates at every start, and the agent makes no TLS connection to outside servers.
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;
  const daemon = await startDaemon({
    ...agentIdentity(layout),
    command,
    args,
    environment: { ...RUN_TIME_ENVIRONMENT, ...environment },
    logFile: layout.agentLog,
    log: options.log,
  });
  try {
    await untilReady({
      name: "the node agent",
      daemon,
      logFile: layout.agentLog,
      signal: options.signal,
      check: async () => {
        await readNodeReport(layout.agentSocket);
      },
    });
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return daemon;
}

/** Ends the agent of an earlier supervisor that was killed. */
export async function endAgent(layout: StateLayout, log: Log): Promise<void> {
  await endDaemon({ ...agentIdentity(layout), log });
}

async function chooseServer({ clusterAuthority }: StateLayout, options: AgentOptions) {
  const { serverPort = KUBELET_PORT } = options;
  const address = serverClients(options) === undefined ? options.serverAddress : everyAddressOf(options);
  if (address === undefined) return undefined;
  return { address, port: await choosePort(address, serverPort), clientAuthority: clusterAuthority };
}

const ownDnsServer = ({ dns, podCidr }: AgentOptions): string | undefined =>
  dns && podCidr !== undefined ? bridgeAddressOf(podCidr).address : undefined;

/**
 * Where the API is for this machine alone, pods are of this machine: a metrics-server and Prometheus read the node at its
 * address. The result is undefined where the API is for everybody.
 */
function serverClients({ serverAddress = "", podCidr }: AgentOptions): string | undefined {
  return serverAddress.startsWith("127.") || serverAddress === "::1" ? podCidr : undefined;
}

const everyAddressOf = ({ serverAddress = "" }: AgentOptions): string =>
  serverAddress.includes(":") ? "::" : "0.0.0.0";

function agentIdentity(layout: StateLayout) {
  return { pidFile: layout.agentPidFile, gracePeriodMs: STOP_GRACE_PERIOD_MS };
}

function agentCommand(layout: StateLayout, { kubeletRoot }: PodPlaces, options: AgentOptions): string[] {
  const start = { node: process.execPath, entry: options.entry };
  const clients = serverClients(options);
  return [
    ...computeProgramWords(start, computeRunTimeFlags(options.nodeFlags)),
    "kubelet",
    `--config=${layout.kubeletConfig}`,
    `--root-dir=${kubeletRoot}`,
    `--cert-dir=${kubeletRoot}/pki`,
    `--kubeconfig=${layout.nodeKubeconfig}`,
    `--nodelet-socket=${layout.agentSocket}`,
    ...(options.podCidr === undefined
      ? []
      : [`--nodelet-fallback-node-ip=${bridgeAddressOf(options.podCidr).address}`]),
    ...(clients === undefined ? [] : [`--nodelet-server-clients=${clients}`]),
    `--nodelet-kept-images=${layout.keptImages}`,
    // The control plane applies them.
    "--nodelet-ignore-other-kinds",
    // This may be any machine of the user, whose kernel is not the cluster's.
    "--nodelet-keep-kernel-tunables",
    "--nodelet-own-cgroup-root",
    ...(options.nodeName === undefined ? [] : [`--hostname-override=${options.nodeName}`]),
    ...loggingArguments(options.logging, "--logging-format"),
    ...options.kubeletArguments,
  ];
}
