import { CodedError, codeOf, messageOf } from "../base/errors.ts";
import { computeStateLayout } from "../cluster/supervisor/state-layout.ts";
import { type AuditFlags, readAuditFlags } from "./audit-flags.ts";
import { type AutoscalerFlags, readAutoscalerFlags } from "./autoscaler-flags.ts";
import { type HistoryFlags, readHistoryFlags } from "./history-flags.ts";
import { watchProcess } from "./kubelet/watch-process.ts";
import { type LogFlags, openCommandLog } from "./log-options.ts";
import { type NodeMonitorFlags, readNodeMonitorFlags } from "./node-monitor-flags.ts";
import { openProgress } from "./open-progress.ts";
import { readVersion } from "./version.ts";

/** The options as commander reads them. */
export interface ControlPlaneCommand extends AuditFlags, AutoscalerFlags, HistoryFlags, LogFlags, NodeMonitorFlags {
  apiAddress: string;
  apiPort: number;
  serviceCidr: string;
  clusterCidr?: string;
  nodeCidrMaskSize?: number;
  nodeCidrMaskSizeIpv6?: number;
  clusterDns?: string;
  dnsServer?: string;
  networkPolicies: boolean;
  nodeName?: string;
  nodeApiAddress?: string;
  podAddress?: string;
  localVolumes?: string;
  manifests?: string;
  refuseForeignManifests: boolean;
  stateDir: string;
  scheduler: boolean;
  controllers: boolean;
}

/** Runs the API server and its controllers until SIGTERM or SIGINT. Needs no root rights. Returns the exit code. */
export async function controlPlane(options: ControlPlaneCommand): Promise<number> {
  process.title = "nodelet control-plane";
  const log = openCommandLog(options);
  const progress = openProgress(options.logFormat);
  const layout = computeStateLayout(options.stateDir);
  const { nodeName, nodeApiAddress, localVolumes, clusterDns: serviceAddress, dnsServer: serverAddress } = options;
  const clusterDns =
    serviceAddress === undefined || serverAddress === undefined ? undefined : { serviceAddress, serverAddress };
  const audit = readAuditFlags(options);
  const watch = watchProcess(process, log);
  const asked = new Promise<void>((resolve) => watch.signal.addEventListener("abort", () => resolve()));
  const { runControlPlane } = await import("../cluster/control-plane/run-control-plane.ts");
  const starting = runControlPlane(
    {
      address: options.apiAddress,
      port: options.apiPort,
      podAddress: options.podAddress,
      serviceCidr: options.serviceCidr,
      clusterCidr: options.clusterCidr,
      nodeMaskSize: options.nodeCidrMaskSize,
      nodeMaskSizeIpv6: options.nodeCidrMaskSizeIpv6,
      version: await readVersion(),
      scheduler: options.scheduler,
      controllers: options.controllers,
      clusterDns,
      nodeMonitor: readNodeMonitorFlags(options),
      autoscaler: readAutoscalerFlags(options),
      networkPolicies: options.networkPolicies,
      history: readHistoryFlags(options),
      audit: audit && { ...audit, writeOutput: (text) => process.stdout.write(text) },
      directory: layout.controlPlane,
      kubeconfig: layout.kubeconfig,
      dns:
        clusterDns === undefined ? undefined : { kubeconfig: layout.dnsKubeconfig, clientPair: layout.dnsClientPair },
      localVolumes: nodeName === undefined || localVolumes === undefined ? undefined : { root: localVolumes, nodeName },
      manifests:
        options.manifests === undefined
          ? undefined
          : { path: options.manifests, refusesForeign: options.refuseForeignManifests },
      node:
        nodeName === undefined
          ? undefined
          : { name: nodeName, kubeconfig: layout.nodeKubeconfig, clientPair: layout.nodeClientPair },
      proxy:
        nodeName === undefined ? undefined : { kubeconfig: layout.proxyKubeconfig, clientPair: layout.proxyClientPair },
      localNode:
        nodeName === undefined || nodeApiAddress === undefined
          ? undefined
          : { name: nodeName, address: nodeApiAddress },
    },
    log,
  );
  const running = await namingPort(starting);
  try {
    await namingPort(Promise.race([running.ready, running.ended, asked]));
    if (!watch.signal.aborted) {
      progress.line(`The Kubernetes API is served at ${running.url}; Ctrl-C stops it.`);
      progress.line(`Try: kubectl --kubeconfig ${layout.kubeconfig} get namespaces`);
    }
    await Promise.race([running.ended, asked]);
  } finally {
    // A start that failed has opened the disk and the port too.
    await running.close();
    watch.release();
  }
  return 0;
}

/** Passes on what is awaited. Where nobody can listen, the error names the flag, for whoever started this by `up` too. */
async function namingPort<T>(awaited: Promise<T>): Promise<T> {
  try {
    return await awaited;
  } catch (error) {
    if (codeOf(error) !== "listen-failed") throw error;
    throw new CodedError("listen-failed", `${messageOf(error)} (--api-port)`, { cause: error });
  }
}
