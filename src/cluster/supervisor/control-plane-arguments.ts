import { bridgeAddressOf } from "../containerd/ensure-bridge.ts";
import { type ChildLogging, loggingArguments } from "../processes/child-logging.ts";
import type { StateLayout } from "./state-layout.ts";

/** What the control plane of a node is started with. */
export interface ControlPlaneArguments {
  apiAddress: string;
  apiPort: number;
  serviceCidr: string;
  /** True: the proxy of services runs, which keeps to network policies too. */
  proxy: boolean;
  /** False: a kube-scheduler of the user's places pods. */
  scheduler: boolean;
  /** False: a kube-controller-manager of the user's does its work. */
  controllers: boolean;
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
}

/** Computes the command line of `nodelet control-plane`, beginning with the command. */
export function computeControlPlaneArguments(
  layout: Pick<StateLayout, "directory" | "localVolumes">,
  options: ControlPlaneArguments,
): string[] {
  return [
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
    ...(options.scheduler ? [] : ["--no-scheduler"]),
    ...(options.controllers ? [] : ["--no-controllers"]),
    ...loggingArguments(options.logging),
    `--state-dir=${layout.directory}`,
  ];
}

/** The address at which this machine reaches a server that listens at `address`. */
export function loopbackOf(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  return address === "::" ? "::1" : address;
}

/** The single node has the whole of each range. */
function maskArguments(podCidr: string): string[] {
  return podCidr.split(",").map((range) => {
    const flag = range.includes(":") ? "--node-cidr-mask-size-ipv6" : "--node-cidr-mask-size";
    return `${flag}=${range.split("/")[1]}`;
  });
}

function dnsArguments({ clusterDns, podCidr }: ControlPlaneArguments): string[] {
  if (clusterDns === undefined) return [];
  return [`--cluster-dns=${clusterDns}`, `--dns-server=${bridgeAddressOf(podCidr).address}`];
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
