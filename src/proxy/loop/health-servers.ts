import { messageOf, runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { HttpServer, ListenHttp } from "../../host/http-server.ts";

/** What a load balancer asks this node about one service. */
interface ServiceHealth {
  readonly namespace: string;
  readonly name: string;
  readonly localEndpoints: number;
}

/** The servers on the health check ports of services. */
interface HealthServers {
  /** Opens and closes servers until they are those of the ports. A port that is taken is logged, and tried again next time. */
  sync(wanted: ReadonlyMap<number, ServiceHealth>): Promise<void>;
  close(): Promise<void>;
}

interface HealthDeps {
  readonly listen: ListenHttp;
  readonly log: Log;
  /** Tells whether the rules are kept up to date. */
  readonly isHealthy: () => boolean;
}

/** Load balancers ask from elsewhere, so that the servers listen on every address. */
const ANY_ADDRESS = "::";

/** Creates no server yet. */
export function createHealthServers({ listen, log, isHealthy }: HealthDeps): HealthServers {
  const servers = new Map<number, HttpServer>();
  let checks: ReadonlyMap<number, ServiceHealth> = new Map();

  const open = async (port: number, { namespace, name }: ServiceHealth) => {
    try {
      const server = await listen({ at: { address: ANY_ADDRESS, port } }, () => answer(checks.get(port), isHealthy()));
      servers.set(port, server);
    } catch (error) {
      log.error("load balancers cannot ask for a service", { port, namespace, name, error: messageOf(error) });
    }
  };

  return {
    async sync(wanted) {
      checks = wanted;
      for (const [port, server] of servers) {
        if (wanted.has(port)) continue;
        servers.delete(port);
        await server.close();
      }
      for (const [port, check] of wanted) if (!servers.has(port)) await open(port, check);
    },
    async close() {
      const open = [...servers.values()];
      servers.clear();
      await runAll(
        open.map((server) => async () => await server.close()),
        "closing health checks",
      );
    },
  };
}

/** The answer has upstream's fields (`pkg/proxy/healthcheck`). */
function answer(check: ServiceHealth | undefined, isHealthy: boolean) {
  const { namespace = "", name = "", localEndpoints = 0 } = check ?? {};
  const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: isHealthy };
  return {
    status: localEndpoints > 0 && isHealthy ? 200 : 503,
    headers: {
      "content-type": "application/json",
      "x-content-type-options": "nosniff",
      "x-load-balancing-endpoint-weight": `${localEndpoints}`,
    },
    body: JSON.stringify(body),
  };
}
