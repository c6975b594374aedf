import { describeConfigz } from "../../config/configz.ts";
import { KUBELET_VERSION } from "../../config/kubelet-version.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { HttpHandler } from "../../host/http-server.ts";
import type { CallUpgrade } from "../../host/upgrade-call.ts";
import type { AcceptWebSocket } from "../../host/web-socket.ts";
import type { KubeClient } from "../../kube/port.ts";
import { type CertificateRotation, createCertificateRotation } from "../cluster/certificates/certificate-rotation.ts";
import { chooseServingCertificate } from "../cluster/certificates/choose-serving-certificate.ts";
import { createClientAuthority } from "../cluster/certificates/client-authority.ts";
import { addressesOf, followAddresses } from "../cluster/certificates/follow-addresses.ts";
import { computeServingSubject } from "../cluster/certificates/rotation-plan.ts";
import { createServerIdentity, type ServerIdentity } from "../cluster/certificates/server-identity.ts";
import { createCarriedStreams, NONE_CARRIED } from "../runtime/streaming/carried-streams.ts";
import { createCheckpointEndpoint } from "../runtime/streaming/checkpoint-endpoint.ts";
import { createStreamingEndpoints, type Streaming } from "../runtime/streaming/streaming-endpoints.ts";
import { createNodeAccess } from "../server/access.ts";
import { createExplainHandler, EXPLAIN_ROOT } from "../server/explain.ts";
import { createFlagz } from "../server/flagz.ts";
import { createReadOnlyHandler } from "../server/handlers.ts";
import { httpMetricsOf } from "../server/http-metrics.ts";
import { createNodeApi, type NodeEndpoint } from "../server/node-api.ts";
import { createPageEndpoints } from "../server/pages.ts";
import { sharePages } from "../server/shared-pages.ts";
import { withStatusz } from "../server/statusz.ts";
import { traceRequests } from "../server/traced-requests.ts";
import { composeLogEndpoints } from "./logs.ts";
import type { NodeAgent } from "./node-agent.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";

/** The node's own API, ready to be listened for. */
export interface NodeServer extends ServerIdentity {
  readonly handler: HttpHandler;
}

export interface NodeServerDeps {
  ports: Pick<NodeAgentPorts, "host" | "cri" | "kube" | "log" | "metrics" | "tracing">;
  /** How the runtime's streaming server is reached. */
  callUpgrade: CallUpgrade;
  acceptWebSocket: AcceptWebSocket;
  agent: Pick<NodeAgent, "view" | "desired" | "containerChanges" | "ownNode">;
  /** The client that is asked who somebody is and what they may do; undefined: there is no API server. */
  reviews: KubeClient | undefined;
}

/** Builds the node's own API. Rejects where a file that the configuration names is not there or of no use. */
export async function composeNodeServer(deps: NodeServerDeps, config: NodeAgentConfig): Promise<NodeServer> {
  const { host, log, metrics } = deps.ports;
  const { clock } = host;
  const { kubelet } = config;
  const identity = await composeIdentity(deps, config);
  const streaming = composeStreaming(deps, config);
  const configz = JSON.stringify(describeConfigz(config));
  const api = createNodeApi(
    {
      ...createNodeAccess({ clock, reviews: deps.reviews }, config),
      readOnly: sharePages(createReadOnlyHandler(deps.agent.view), clock),
      configz: () => configz,
      endpoints: composeEndpoints(deps, config, streaming),
      clock,
      log,
    },
    {
      debuggingHandlers: kubelet.enableDebuggingHandlers === true,
      systemLogHandler: kubelet.enableSystemLogHandler === true,
    },
  );
  return {
    ...identity,
    handler: httpMetricsOf(metrics, clock).measureSecure(traceRequests(api, deps.ports.tracing)),
    parts: [...identity.parts, { name: "streams", run: streaming.run }],
  };
}

function composeEndpoints(
  deps: NodeServerDeps,
  config: NodeAgentConfig,
  streaming: Streaming,
): Record<string, NodeEndpoint> {
  const endpoints = {
    ...streaming.endpoints,
    ...composeCheckpoints(deps, config),
    ...createPageEndpoints(deps.agent.view, (page) => sharePages(page, deps.ports.host.clock)),
    [EXPLAIN_ROOT]: createExplainHandler(deps.agent.view.explainer),
    ...composeLogEndpoints(deps, config),
  };
  const { ComponentFlagz, ComponentStatusz } = config.featureGates;
  const all = ComponentFlagz ? { ...endpoints, "/flagz": createFlagz(config.flags) } : endpoints;
  if (!ComponentStatusz) return all;
  return withStatusz(all, { clock: deps.ports.host.clock, version: KUBELET_VERSION });
}

/** Half of the connections that the server has: logs, statistics and metrics are asked for beside the streams. */
const MAX_STREAMS = 512;

function composeStreaming(
  { ports, agent, callUpgrade, acceptWebSocket }: NodeServerDeps,
  { kubelet, featureGates }: NodeAgentConfig,
): Streaming {
  const { cri, host, log } = ports;
  const { clock } = host;
  const idle = { idleTimeoutMs: kubelet.streamingConnectionIdleTimeout };
  const carried = featureGates.ExtendWebSocketsToKubelet
    ? createCarriedStreams({ acceptWebSocket, clock, log }, idle)
    : NONE_CARRIED;
  return createStreamingEndpoints(
    { runtime: cri.runtime, pods: agent.desired, callUpgrade, clock, carried },
    { ...idle, maxStreams: MAX_STREAMS },
  );
}

function composeCheckpoints(
  { ports, agent }: NodeServerDeps,
  { kubelet, rootDirectory, featureGates }: NodeAgentConfig,
): Record<string, NodeEndpoint> {
  if (!featureGates.ContainerCheckpoint) return {};
  const { clock, files } = ports.host;
  const deps = { runtime: ports.cri.runtime, pods: agent.desired, files, clock };
  const options = { directory: `${rootDirectory}/checkpoints`, requestTimeoutMs: kubelet.runtimeRequestTimeout };
  return { "/checkpoint": createCheckpointEndpoint(deps, options) };
}

async function composeIdentity(deps: NodeServerDeps, config: NodeAgentConfig): Promise<ServerIdentity> {
  const { host, log } = deps.ports;
  const { clock, files } = host;
  const { clientCAFile } = config.kubelet.authentication.x509;
  const authority = clientCAFile === "" ? undefined : await createClientAuthority({ files, clock, log }, clientCAFile);
  const rotation = composeRotation(deps, config);
  return createServerIdentity(await chooseServingCertificate({ files, clock, log, rotation }, config), authority);
}

/** Undefined where the node is to have no certificate from the cluster. */
function composeRotation(
  { ports, agent }: NodeServerDeps,
  { kubelet, certDirectory, nodeName, featureGates }: NodeAgentConfig,
): CertificateRotation | undefined {
  const { host, log, metrics, kube } = ports;
  if (!kubelet.serverTLSBootstrap || kube === undefined) return undefined;
  const { clock, random, files } = host;
  const { ownNode } = agent;
  const allowsNamesOnly = featureGates.AllowDNSOnlyNodeCSR;
  const rotation = createCertificateRotation(
    { client: kube.client, clock, random, files, log, metrics },
    {
      signerName: "kubernetes.io/kubelet-serving",
      usages: ["digital signature", "server auth"],
      subject: () => computeServingSubject(nodeName, addressesOf(ownNode), { allowsNamesOnly }),
      pairName: "kubelet-server",
      certDirectory,
    },
  );
  return followAddresses(rotation, ownNode);
}
