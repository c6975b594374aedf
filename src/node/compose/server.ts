import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Part } from "../../base/run-parts.ts";
import { describeConfigz } from "../../config/configz.ts";
import { KUBELET_VERSION } from "../../config/kubelet-version.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { SecureHandler, ServingIdentity } from "../../host/secure-server.ts";
import type { CallUpgrade } from "../../host/upgrade-call.ts";
import type { KubeClient } from "../../kube/port.ts";
import { createCertificateRotation } from "../cluster/certificates/certificate-rotation.ts";
import { type ClientAuthority, createClientAuthority } from "../cluster/certificates/client-authority.ts";
import { ensureServingCertificate } from "../cluster/certificates/ensure-serving-certificate.ts";
import { computeServingSubject } from "../cluster/certificates/rotation-plan.ts";
import {
  createFixedCertificate,
  createFollowedCertificate,
  createRotatedCertificate,
  readPairFiles,
  type ServingCertificate,
} from "../cluster/certificates/serving-certificate.ts";
import { createCheckpointEndpoint } from "../runtime/streaming/checkpoint-endpoint.ts";
import { createStreamingEndpoints, type Streaming } from "../runtime/streaming/streaming-endpoints.ts";
import { createAuthenticator, createTokenReviews } from "../server/authenticate.ts";
import { allowAlways, createAccessReviews } from "../server/authorize.ts";
import { createReadOnlyHandler, type NodeView, type StatisticsPage } from "../server/handlers.ts";
import { httpMetricsOf } from "../server/http-metrics.ts";
import { createNodeApi, type NodeEndpoint } from "../server/node-api.ts";
import { createStatusz } from "../server/statusz.ts";
import { composeLogEndpoints } from "./logs.ts";
import type { NodeAgent } from "./node-agent.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";

/** The node's own API, ready to be listened for. */
export interface NodeServer {
  handler: SecureHandler;
  asksForCertificate: boolean;
  identity(): ServingIdentity;
  /** Called after each change of the identity. */
  subscribe(listener: () => void): () => void;
  parts: readonly Part[];
}

export interface NodeServerDeps {
  ports: Pick<NodeAgentPorts, "host" | "cri" | "kube" | "log" | "metrics">;
  /** How the runtime's streaming server is reached. */
  callUpgrade: CallUpgrade;
  agent: Pick<NodeAgent, "view" | "desired" | "containerChanges" | "ownNode">;
  /** What authentication and authorization are asked of; undefined: there is no API server. */
  reviews: KubeClient | undefined;
}

/** Why the configuration gives nobody who could be let in, so that there is no server; undefined where it does. */
export function findServerProblem({ kubelet, cluster }: NodeAgentConfig): string | undefined {
  if (cluster !== undefined) {
    const { x509, webhook, anonymous } = kubelet.authentication;
    const isOpen = x509.clientCAFile !== "" || webhook.enabled === true || anonymous.enabled === true;
    return isOpen ? undefined : "No authentication method configured";
  }
  // A Go kubelet refuses to start by these words; a node without a cluster has pods to run all the same.
  if (kubelet.authentication.webhook.enabled === true) return "no client provided, cannot use webhook authentication";
  if (kubelet.authorization.mode === "Webhook") return "no client provided, cannot use webhook authorization";
  return undefined;
}

/** Builds the node's own API. Rejects where a file that the configuration names is not there or of no use. */
export async function composeNodeServer(deps: NodeServerDeps, config: NodeAgentConfig): Promise<NodeServer> {
  const { host, log, metrics } = deps.ports;
  const { clock, files } = host;
  const { kubelet } = config;
  const { clientCAFile } = kubelet.authentication.x509;
  const authority = clientCAFile === "" ? undefined : await createClientAuthority({ files, clock, log }, clientCAFile);
  const certificate = await composeServingCertificate(deps, config);
  const streaming = composeStreaming(deps, config);
  const configz = JSON.stringify(describeConfigz(config));
  return {
    handler: httpMetricsOf(metrics, clock).measureSecure(
      createNodeApi(
        {
          ...composeAccess(deps, config),
          readOnly: createReadOnlyHandler(deps.agent.view),
          configz: () => configz,
          endpoints: withStatusz(config, clock, {
            ...streaming.endpoints,
            ...composeCheckpoints(deps, config),
            ...pagesOf(deps.agent.view),
            ...composeLogEndpoints(deps, config),
          }),
          clock,
          log,
        },
        {
          debuggingHandlers: kubelet.enableDebuggingHandlers === true,
          systemLogHandler: kubelet.enableSystemLogHandler === true,
        },
      ),
    ),
    asksForCertificate: authority !== undefined,
    identity: () => ({ pair: certificate.current(), clientAuthorityPem: authority?.current() }),
    subscribe(listener) {
      const stops = [certificate.subscribe(listener), authority?.subscribe(listener)];
      return () => {
        for (const stop of stops) stop?.();
      };
    },
    parts: [...partsOf(certificate, authority), { name: "streams", run: streaming.run }],
  };
}

/** The page tells of all the others, and of those that the read-only server has. */
function withStatusz(
  { featureGates }: NodeAgentConfig,
  clock: Pick<Clock, "now">,
  endpoints: Record<string, NodeEndpoint>,
): Record<string, NodeEndpoint> {
  if (!featureGates.ComponentStatusz) return endpoints;
  const paths = [...Object.keys(endpoints), "/configz", "/healthz", "/metrics", "/pods", "/runningpods", "/statusz"];
  const options = { startedAt: clock.now(), version: KUBELET_VERSION, paths };
  const page = createStatusz(clock, options);
  return { ...endpoints, "/statusz": ({ path }) => (path === "/statusz" ? page() : NOT_FOUND) };
}

const NOT_FOUND = { status: 404, body: "404 page not found\n" };

/** Nothing is beneath a page. */
function pagesOf({ statistics }: Pick<NodeView, "statistics">): Record<string, NodeEndpoint> {
  const exactly = ([path, page]: [string, StatisticsPage]): [string, NodeEndpoint] => {
    return [path, (request) => (request.path === path ? page(request) : NOT_FOUND)];
  };
  return Object.fromEntries(Object.entries(statistics).map(exactly));
}

/** Half of the connections that the server has: logs, statistics and metrics are asked for beside the streams. */
const MAX_STREAMS = 512;

function composeStreaming({ ports, agent, callUpgrade }: NodeServerDeps, { kubelet }: NodeAgentConfig): Streaming {
  const { cri, host } = ports;
  return createStreamingEndpoints(
    { runtime: cri.runtime, pods: agent.desired, callUpgrade, clock: host.clock },
    { idleTimeoutMs: kubelet.streamingConnectionIdleTimeout, maxStreams: MAX_STREAMS },
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

function partsOf(certificate: ServingCertificate, authority: ClientAuthority | undefined): Part[] {
  const own = { name: "serving certificate", run: certificate.run };
  return authority === undefined ? [own] : [own, { name: "client authorities", run: authority.run }];
}

function composeAccess({ ports, reviews }: NodeServerDeps, { kubelet, nodeName }: NodeAgentConfig) {
  const { clock } = ports.host;
  const { authentication, authorization } = kubelet;
  const asked = reviews && { client: reviews, clock };
  const { cacheAuthorizedTTL, cacheUnauthorizedTTL } = authorization.webhook;
  const ttl = { allowedTtlMs: cacheAuthorizedTTL, refusedTtlMs: cacheUnauthorizedTTL };
  const reviewToken =
    authentication.webhook.enabled === true && asked !== undefined
      ? createTokenReviews(asked, { cacheTtlMs: authentication.webhook.cacheTTL })
      : undefined;
  if (authorization.mode !== "AlwaysAllow" && asked === undefined) throw new Error("nobody can be authorized");
  return {
    authenticate: createAuthenticator({ clock, reviewToken }, { anonymous: authentication.anonymous.enabled === true }),
    authorize:
      asked && authorization.mode === "Webhook" ? createAccessReviews(asked, { nodeName, ...ttl }) : allowAlways,
  };
}

async function composeServingCertificate(deps: NodeServerDeps, config: NodeAgentConfig): Promise<ServingCertificate> {
  const { host, log } = deps.ports;
  const { clock, files } = host;
  const { kubelet, certDirectory, nodeName, featureGates } = config;
  const { tlsCertFile: certificateFile, tlsPrivateKeyFile: keyFile } = kubelet;
  const named = certificateFile === "" || keyFile === "" ? undefined : { certificateFile, keyFile };
  if (kubelet.serverTLSBootstrap && deps.ports.kube !== undefined) {
    const fallback = named && (await readPairFiles(files, named));
    return composeRotation(deps, config, { fallback, log });
  }
  if (named === undefined) {
    // As upstream: one file without the other is no certificate, and then there is the node's own.
    const options = { certDirectory, hostName: nodeName };
    return createFixedCertificate(await ensureServingCertificate({ files, clock, log }, options));
  }
  const first = await readPairFiles(files, named);
  if (!featureGates.ReloadKubeletServerCertificateFile) return createFixedCertificate(first);
  return createFollowedCertificate({ files, clock, log }, { ...named, first });
}

function composeRotation(
  { ports, agent }: NodeServerDeps,
  { certDirectory, nodeName, featureGates }: NodeAgentConfig,
  options: { fallback: ReturnType<ServingCertificate["current"]>; log: Log },
): ServingCertificate {
  const { host, log, metrics, kube } = ports;
  const { clock, random, files } = host;
  if (kube === undefined) throw new Error("a certificate is requested, and there is no API server");
  const addresses = () => agent.ownNode?.node()?.status?.addresses ?? [];
  const allowsNamesOnly = featureGates.AllowDNSOnlyNodeCSR;
  const rotation = createCertificateRotation(
    { client: kube.client, clock, random, files, log, metrics },
    {
      signerName: "kubernetes.io/kubelet-serving",
      usages: ["digital signature", "server auth"],
      subject: () => computeServingSubject(nodeName, addresses(), { allowsNamesOnly }),
      pairName: "kubelet-server",
      certDirectory,
    },
  );
  let known = "";
  return createRotatedCertificate(
    {
      ...rotation,
      async run(signal) {
        const stop = agent.ownNode?.follow(() => {
          const now = JSON.stringify(addresses());
          if (now !== known) rotation.reconsider();
          known = now;
        });
        try {
          await rotation.run(signal);
        } finally {
          stop?.();
        }
      },
    },
    options,
  );
}
