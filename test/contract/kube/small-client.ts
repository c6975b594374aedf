import { afterEach } from "vitest";
import { NODES } from "../../../src/api/kube-resource.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { Log, LogFields } from "../../../src/base/log.ts";
import type { Metrics } from "../../../src/base/metrics.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { linuxPrograms } from "../../../src/host/linux/system/linux-programs.ts";
import { systemClock } from "../../../src/host/linux/system/system-clock.ts";
import type { KubeConnection } from "../../../src/kube/connection.ts";
import {
  createHttpKubeClient,
  type HttpKubeClient,
  type HttpKubeClientOptions,
} from "../../../src/kube/http/create-http-kube-client.ts";
import type { KubeClient } from "../../../src/kube/port.ts";
import { type Handler, type Protocol, type SmallServer, smallCertificates, startSmallServer } from "./small-server.ts";

interface ClientSettings extends Partial<HttpKubeClientOptions> {
  readonly connection?: Partial<KubeConnection>;
  readonly clock?: Clock;
  readonly metrics?: Metrics;
}

/** The small servers and clients of a file, each closed after its case. */
interface SmallWorld {
  serve(handler: Handler, options?: { protocol?: Protocol; settings?: object }): Promise<SmallServer>;
  connect(url: string, settings?: ClientSettings): Promise<HttpKubeClient>;
  /** Everything that clients logged. */
  readonly logged: string[];
  /** Closes something else after the case. */
  later(close: () => Promise<void> | void): void;
}

export function useSmallWorld(): SmallWorld {
  const closing: Array<() => Promise<void> | void> = [];
  const logged: string[] = [];
  afterEach(async () => {
    // The clients, which came last, go first.
    for (const close of closing.splice(0).reverse()) await close();
    logged.length = 0;
  });
  return {
    logged,
    async serve(handler, options = {}) {
      const server = await startSmallServer({ handler, ...options });
      closing.push(() => server.close());
      return server;
    },
    async connect(url, { connection = {}, clock = systemClock, metrics, ...options } = {}) {
      const { authority } = await smallCertificates();
      const client = createHttpKubeClient(
        {
          connection: {
            source: "a test",
            server: url,
            namespace: "",
            authority: { kind: "inline", pem: authority.certificatePem },
            user: {},
            ...connection,
          },
          clock,
          random: createSeededRandom(1),
          log: keepingLog(logged),
          metrics,
          programs: linuxPrograms,
        },
        { userAgent: "small/1.0", qps: 0, burst: 0, timeoutMs: 5_000, ...options },
      );
      closing.push(() => client.close());
      return client;
    },
    later: (close) => void closing.push(close),
  };
}

function keepingLog(logged: string[]): Log {
  const keep = (message: string, fields?: LogFields) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { error: keep, warn: keep, info: keep, debug: keep, with: () => log };
  return log;
}

export const getNode = async (client: KubeClient, options = {}) =>
  await client.get(NODES, { namespace: "", name: "a" }, options);

/** Resolves when the condition holds; for what a server or the kernel does in its own time. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
