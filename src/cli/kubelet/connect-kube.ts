import { CodedError, codeOf, messageOf, runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { Tracing } from "../../base/tracing.ts";
import { KUBELET_VERSION } from "../../config/kubelet-version.ts";
import type { ClusterConfig, NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { Host } from "../../host/port.ts";
import {
  createHttpKubeClient,
  type HttpKubeClient,
  type HttpKubeClientOptions,
} from "../../kube/http/create-http-kube-client.ts";
import { readKubeconfig } from "../../kube/kubeconfig.ts";
import type { KubeClient } from "../../kube/port.ts";
import { bootstrapClientCertificate } from "../../node/cluster/certificates/bootstrap-client-certificate.ts";
import type { KubePorts } from "../../node/compose/node-agent-ports.ts";

/** The clients of the API server. */
export interface KubeLink {
  readonly ports: KubePorts;
  /** The client for reviews of the node server's own clients. These calls must not keep the node from its work. */
  readonly reviews: KubeClient;
  close(): Promise<void>;
}

interface KubeLinkDeps {
  host: Host;
  log: Log;
  metrics: Metrics;
  tracing: Tracing | undefined;
}

/** The bound of all calls but watches. Everything except a watch is small. */
const CALL_TIMEOUT_MS = 30_000;
/** A client of the node's server waits for a review with an open connection. */
const REVIEW_TIMEOUT_MS = 10_000;
const USER_AGENT = `nodelet/${KUBELET_VERSION}`;

/**
 * Connects to the API server of the kubeconfig. Where that file does not exist, or is no longer of use, it is first
 * made with the credentials of the bootstrap kubeconfig, which waits for as long as the approval takes.
 */
export async function connectKube(
  config: NodeAgentConfig,
  cluster: ClusterConfig,
  { host, log, metrics, tracing, signal }: KubeLinkDeps & { signal: AbortSignal },
): Promise<KubeLink> {
  const { clock, random, files, programs } = host;
  const deps = { clock, random, log, metrics, tracing, programs };
  if (cluster.bootstrapKubeconfigPath !== undefined) {
    await bootstrap(cluster.bootstrapKubeconfigPath, { config, cluster, host, log, signal });
  }
  const connection = await readKubeconfig(cluster.kubeconfigPath, files).catch((error: unknown) => {
    const isMissing = error instanceof Error && codeOf(error.cause) === "ENOENT";
    if (!isMissing) throw error;
    const mend = "write one, or name a --bootstrap-kubeconfig to get one with";
    throw new CodedError("kubeconfig-missing", `--kubeconfig: ${messageOf(error)}; ${mend}`, { cause: error });
  });
  const { kubelet } = config;
  const unlimited = { qps: 0, burst: 0 };
  const heartbeatTimeoutMs = Math.min(kubelet.nodeStatusUpdateFrequency, kubelet.nodeLeaseDurationSeconds * 1000);
  const connect = (options: Omit<HttpKubeClientOptions, "userAgent">): HttpKubeClient =>
    createHttpKubeClient({ ...deps, connection }, { userAgent: USER_AGENT, ...options });
  const client = connect({ qps: kubelet.kubeAPIQPS ?? 0, burst: kubelet.kubeAPIBurst, timeoutMs: CALL_TIMEOUT_MS });
  // The sink of events limits its own rate.
  const events = connect({ ...unlimited, timeoutMs: CALL_TIMEOUT_MS });
  // As upstream's OnHeartbeatFailure, a heartbeat that finds the server unreachable reconnects the other clients, so
  // that the watches need not find out by themselves.
  const onUnreachable = () => {
    for (const other of [client, events]) other.reconnect();
  };
  const heartbeat = connect({ ...unlimited, timeoutMs: heartbeatTimeoutMs, onUnreachable });
  const reviews = connect({
    qps: kubelet.kubeAPIQPS ?? 0,
    burst: kubelet.kubeAPIBurst,
    timeoutMs: REVIEW_TIMEOUT_MS,
  });
  return {
    ports: { client, heartbeat, events, server: connection.server },
    reviews,
    close: async () =>
      await runAll(
        [client, heartbeat, events, reviews].map((one) => one.close),
        "closing connections",
      ),
  };
}

async function bootstrap(
  path: string,
  deps: { config: NodeAgentConfig; cluster: ClusterConfig; host: Host; log: Log; signal: AbortSignal },
): Promise<void> {
  const { config, cluster, host, log, signal } = deps;
  const { clock, random, files, programs } = host;
  const opened: HttpKubeClient[] = [];
  const readBootstrap = async () => {
    const connection = await readKubeconfig(path, files);
    const client = createHttpKubeClient(
      { clock, random, log, programs, connection },
      { userAgent: USER_AGENT, qps: 0, burst: 0, timeoutMs: CALL_TIMEOUT_MS },
    );
    opened.push(client);
    return { client, connection };
  };
  try {
    const { nodeName, certDirectory } = config;
    const options = { nodeName, certDirectory, kubeconfigPath: cluster.kubeconfigPath };
    await bootstrapClientCertificate({ readBootstrap, clock, random, log, files }, options, signal);
  } finally {
    for (const client of opened) await client.close();
  }
}
