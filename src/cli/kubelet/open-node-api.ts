import { SECOND } from "../../base/clock.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import { runWithTasks } from "../../base/tasks.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { HttpLimits, HttpServer, HttpServerOptions, ListenHttp } from "../../host/http-server.ts";
import { composeNodeServer, type NodeServer, type NodeServerDeps } from "../../node/compose/server.ts";
import { PAGE_HEADERS } from "../../node/server/handlers.ts";
import { findServerProblem, findServerWarning } from "../../node/server/server-problem.ts";
import { takesFrom } from "../../node/server/taken-connections.ts";

/**
 * The limits for clients that have not identified themselves. They must send their request within these times, because
 * there are few connections.
 */
const LIMITS: Partial<HttpLimits> = { greetingMs: 10 * SECOND, headersMs: 10 * SECOND, maxConnections: 1024 };

/** The node's own API while it is served. */
export interface NodeApiServer {
  /** Keeps the certificate and the authorities up to date until the signal fires. Rejects when that crashes. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends open connections. */
  close(): Promise<void>;
}

/**
 * Serves the node's API where the configuration wants it. The result is undefined where it does not, and where a node
 * without a cluster has no API server to authorize clients. Rejects when the server cannot listen: the message says
 * which flag moves it.
 */
export async function openNodeApi(
  { listen, ...deps }: NodeServerDeps & { listen: ListenHttp },
  config: NodeAgentConfig,
): Promise<NodeApiServer | undefined> {
  const { kubelet } = config;
  const { log } = deps.ports;
  if (kubelet.enableServer !== true) return undefined;
  const problem = findServerProblem(config);
  if (problem !== undefined && config.cluster !== undefined) throw new CodedError("no-access", problem);
  if (problem !== undefined) {
    log.info("The node's API is not served", { port: kubelet.port, reason: problem });
    return undefined;
  }
  const warning = findServerWarning(config);
  if (warning !== undefined) log.warn(warning, { address: kubelet.address, port: kubelet.port });
  const node = await composeNodeServer(deps, config);
  const { asksForCertificate } = node;
  const options: HttpServerOptions = {
    at: { address: kubelet.address, port: kubelet.port },
    tls: { ...config.tls, asksForCertificate, identity: node.identity() },
    ...(config.serverClients && { takes: takesFrom(config.serverClients) }),
    ...{ decodesPath: true, readsBodies: false, defaultHeaders: PAGE_HEADERS, limits: LIMITS },
    onBadConnection: (reason, remoteAddress) =>
      log.debug("A connection to the node's API came to nothing", { remoteAddress, error: reason }, 2),
  };
  const server = await listen(options, node.handler).catch((error: unknown) => {
    const mend = "port, --port; enableServer, --enable-server=false for none";
    throw new CodedError("listen-failed", `node API: ${messageOf(error)} (${mend})`, { cause: error });
  });
  log.debug("Listening", { server: "node API", address: kubelet.address, port: server.port }, 2);
  return {
    run: async (signal) => await run({ node, server, log }, signal),
    close: async () => await server.close(),
  };
}

async function run(
  { node, server, log }: { node: NodeServer; server: HttpServer; log: NodeServerDeps["ports"]["log"] },
  signal: AbortSignal,
): Promise<void> {
  const stop = node.subscribe(() => {
    try {
      server.use(node.identity());
    } catch (error) {
      log.error("TLS cannot use the new certificate, the old one is served on", { error: messageOf(error) });
    }
  });
  try {
    await runWithTasks(signal, async (tasks, inner) => {
      for (const part of node.parts) tasks.spawn(part.name, async () => await part.run(inner));
      await tasks.settled();
    });
  } finally {
    stop();
  }
}
