import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../base/log.ts";
import { getOnce } from "../../host/linux/network/get-once.ts";
import { bridgeAddressOf } from "../containerd/ensure-bridge.ts";
import { type ChildLogging, loggingArguments } from "../processes/child-logging.ts";
import { type Daemon, endDaemon, startDaemon } from "../processes/daemon.ts";
import { computeProgramWords } from "../processes/run-time.ts";
import { untilReady } from "../processes/until-ready.ts";
import type { StateLayout } from "./state-layout.ts";

export interface ControlPlaneChildOptions {
  /** The JavaScript file that this program was started with. */
  entry: string;
  apiAddress: string;
  apiPort: number;
  serviceCidr: string;
  /** True: the proxy of services runs, which keeps to network policies too. */
  proxy: boolean;
  /** The address of the service of the cluster's DNS. Default: there is no such server of ours. */
  clusterDns?: string | undefined;
  /** The whole range belongs to the single node. */
  podCidr: string;
  /** Where pods reach the API, as soon as the machine has that address. */
  podAddress: string | undefined;
  /** The directory of manifests, whose pods the node agent takes. */
  manifests: string;
  /** The flags of the node agent, one of which concerns manifests. */
  kubeletArguments: readonly string[];
  /** The arguments about the audit log. */
  auditArguments: readonly string[];
  /** The name of the node that will join. */
  nodeName: string;
  /** How the child logs. Default: text, with verbosity 0. */
  logging?: ChildLogging;
  log: Log;
  /** Firing it gives up the wait for the API, and the child is stopped. */
  signal: AbortSignal;
}

const STOP_GRACE_PERIOD_MS = 10_000;

/** Starts the control plane and resolves when its API is ready. Rejects with `exited` or `start-timed-out`. */
export async function startControlPlane(layout: StateLayout, options: ControlPlaneChildOptions): Promise<Daemon> {
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;
  const start = { node: process.execPath, entry: options.entry };
  const [command = start.node, ...words] = computeProgramWords(start, process.execArgv);
  const daemon = await startDaemon({
    ...identityOf(layout),
    command,
    args: [
      ...words,
      "control-plane",
      `--api-address=${options.apiAddress}`,
      `--api-port=${options.apiPort}`,
      `--service-cidr=${options.serviceCidr}`,
      `--cluster-cidr=${options.podCidr}`,
      ...maskArguments(options.podCidr),
      ...(options.podAddress === undefined ? [] : [`--pod-address=${options.podAddress}`]),
      `--node-name=${options.nodeName}`,
      // The agent serves its API where the cluster's API is: on loopback, unless a user opened the cluster to the
      // network.
      `--node-api-address=${loopbackOf(options.apiAddress)}`,
      ...dnsArguments(options),
      `--local-volumes=${layout.localVolumes}`,
      `--manifests=${options.manifests}`,
      ...(refusesForeign(options.kubeletArguments) ? ["--refuse-foreign-manifests"] : []),
      ...historyArguments(options.kubeletArguments),
      ...options.auditArguments,
      ...(options.proxy ? ["--network-policies"] : []),
      ...loggingArguments(options.logging),
      `--state-dir=${layout.directory}`,
    ],
    environment,
    logFile: layout.controlPlaneLog,
    log: options.log,
  });
  try {
    await untilReady({
      name: "the control plane",
      daemon,
      logFile: layout.controlPlaneLog,
      signal: options.signal,
      check: async () => await checkReadiness(layout, loopbackOf(options.apiAddress), options.apiPort),
    });
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return daemon;
}

/** The single node has the whole of each range. */
function maskArguments(podCidr: string): string[] {
  return podCidr.split(",").map((range) => {
    const flag = range.includes(":") ? "--node-cidr-mask-size-ipv6" : "--node-cidr-mask-size";
    return `${flag}=${range.split("/")[1]}`;
  });
}

function dnsArguments({ clusterDns, podCidr }: ControlPlaneChildOptions): string[] {
  if (clusterDns === undefined) return [];
  return [`--cluster-dns=${clusterDns}`, `--dns-server=${bridgeAddressOf(podCidr).address}`];
}

/** Ends the control plane of an earlier supervisor that was killed. */
export async function endControlPlane(layout: StateLayout, log: Log): Promise<void> {
  await endDaemon({ ...identityOf(layout), log });
}

function identityOf(layout: StateLayout) {
  return { pidFile: layout.controlPlanePidFile, gracePeriodMs: STOP_GRACE_PERIOD_MS };
}

/** The node agent and the control plane read the same directory, and have to judge it alike. */
function refusesForeign(kubeletArguments: readonly string[]): boolean {
  const last = kubeletArguments.findLast((argument) => argument.startsWith("--nodelet-refuse-foreign-manifests"));
  return last !== undefined && !last.endsWith("=false");
}

/** The bounds that a user sets for the node agent's history are those of the control plane's, too. */
function historyArguments(kubeletArguments: readonly string[]): string[] {
  return ["size", "age"].flatMap((bound) => {
    const prefix = `--nodelet-history-${bound}=`;
    const last = kubeletArguments.findLast((argument) => argument.startsWith(prefix));
    return last === undefined ? [] : [`--history-${bound}=${last.slice(prefix.length)}`];
  });
}

function loopbackOf(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  return address === "::" ? "::1" : address;
}

const READINESS_TIMEOUT_MS = 10_000;
const MAX_READINESS_BYTES = 64 * 1024;

/**
 * Checks the readiness. It trusts only the cluster's own authority, because another server on the port is not our
 * control plane.
 */
async function checkReadiness(layout: StateLayout, host: string, port: number): Promise<void> {
  const ca = await readFile(join(layout.controlPlane, "pki", "ca.crt"), "utf8");
  const to = { scheme: "https", host, port } as const;
  const limits = { timeoutMs: READINESS_TIMEOUT_MS, maxBodyBytes: MAX_READINESS_BYTES };
  const { status } = await getOnce({ to, path: "/readyz", ca, ...limits });
  if (status !== 200) throw new Error(`/readyz answers ${status}`);
}
