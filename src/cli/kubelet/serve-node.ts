import { SECOND } from "../../base/clock.ts";
import { CodedError, messageOf, runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { HttpLimits, HttpServer, ListenAddress, ListenHttp, PageHandler } from "../../host/http-server.ts";
import {
  createHealthzHandler,
  createNodeSocketHandler,
  createReadOnlyHandler,
  type NodeView,
  PAGE_HEADERS,
} from "../../node/server/handlers.ts";

/** The clients are on this machine, and there are few of them. */
const LIMITS: Partial<HttpLimits> = { headersMs: 30 * SECOND, maxConnections: 256 };

interface PlannedServer {
  name: string;
  /** The hint how to move the server to another address. */
  mend: string;
  address: ListenAddress;
  handler: PageHandler;
}

interface ServeNodeDeps {
  listen: ListenHttp;
  log: Log;
  /** What stands around the pages of the read-only server, to count the requests and to share pages. Default: nothing. */
  wrap?: ((handler: PageHandler) => PageHandler) | undefined;
}

/**
 * Opens the servers that the configuration asks for. When one of them cannot listen, this rejects and leaves none open:
 * the message says which server it is, and which flag moves it.
 */
export async function serveNode(
  view: NodeView,
  config: NodeAgentConfig,
  deps: ServeNodeDeps,
): Promise<{ close(): Promise<void> }> {
  const servers: HttpServer[] = [];
  const close = async () =>
    runAll(
      servers.map((server) => async () => server.close()),
      "closing servers",
    );
  for (const { name, mend, address, handler } of planServers(view, config, deps)) {
    try {
      servers.push(await deps.listen({ at: address, defaultHeaders: PAGE_HEADERS, limits: LIMITS }, handler));
      deps.log.debug("Listening", { server: name, ...address }, 2);
    } catch (error) {
      await close();
      throw new CodedError("listen-failed", `${name}: ${messageOf(error)} (${mend})`, { cause: error });
    }
  }
  return { close };
}

function planServers(
  view: NodeView,
  { kubelet, nodeSocketPath }: NodeAgentConfig,
  { wrap = (handler) => handler }: Pick<ServeNodeDeps, "wrap">,
): PlannedServer[] {
  const planned: PlannedServer[] = [];
  if (kubelet.healthzPort !== 0) {
    planned.push({
      name: "healthz server",
      mend: "healthzPort, --healthz-port; 0 for none",
      address: { address: kubelet.healthzBindAddress, port: kubelet.healthzPort },
      handler: createHealthzHandler(view),
    });
  }
  if (kubelet.readOnlyPort !== 0) {
    planned.push({
      name: "read-only server",
      mend: "readOnlyPort, --read-only-port; 0 for none",
      address: { address: kubelet.address, port: kubelet.readOnlyPort },
      handler: wrap(createReadOnlyHandler(view)),
    });
  }
  if (nodeSocketPath !== undefined) {
    planned.push({
      name: "status socket",
      mend: "--nodelet-socket",
      address: { socketPath: nodeSocketPath },
      handler: createNodeSocketHandler(view),
    });
  }
  return planned;
}
