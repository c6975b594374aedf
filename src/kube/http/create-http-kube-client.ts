import { setMaxListeners } from "node:events";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { Random } from "../../base/random.ts";
import { createRateLimiter } from "../../base/rate-limiter.ts";
import type { Tracing } from "../../base/tracing.ts";
import type { KubeConnection } from "../connection.ts";
import { createCredentials } from "../credentials/credentials.ts";
import type { PluginPrograms } from "../credentials/plugin-programs.ts";
import type { KubeClient } from "../port.ts";
import { createCallMetrics } from "./call-metrics.ts";
import { createCaller } from "./create-caller.ts";
import { createKubeVerbs } from "./kube-verbs.ts";
import { createTransport, type TransportOptions } from "./transport/create-transport.ts";
import { traceTransport } from "./transport/traced-transport.ts";

/** A client over HTTP/2 or HTTP/1.1, with connections, limits and credentials of its own. */
export interface HttpKubeClient extends KubeClient {
  /**
   * Opens connections anew, for callers that know from elsewhere that the server is not reached: a watch on a connection
   * that is half open would find out by its pings only. Watches end in order and go on where they were.
   */
  reconnect(): void;
  /**
   * Ends what is under way, which rejects with AbortedError, and resolves when no connection and no process of a plugin
   * is left. Idempotent. Calls that come later reject with AbortedError too.
   */
  close(): Promise<void>;
}

interface HttpKubeClientDeps {
  readonly connection: KubeConnection;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Runs the exec plugin of the connection, where it has one. */
  readonly programs: PluginPrograms;
  /** May be shared with other clients. */
  readonly metrics?: Metrics | undefined;
  /** Makes a span of every request. Default: none is made. */
  readonly tracing?: Tracing | undefined;
}

export interface HttpKubeClientOptions {
  readonly userAgent: string;
  /** Requests a second in the long run; zero or less: no limit. Watches are not counted. */
  readonly qps: number;
  /** Requests at once. */
  readonly burst: number;
  /** The limit of a call with its retries where it names none of its own, and of the wait until a watch begins. */
  readonly timeoutMs: number;
  /** Called for each call that could not reach the server or was not answered in time. */
  readonly onUnreachable?: (() => void) | undefined;
  /** For tests, and networks that are unlike others. */
  readonly transport?: Partial<TransportOptions> | undefined;
}

/** Connects when the first call is made. */
export function createHttpKubeClient(deps: HttpKubeClientDeps, options: HttpKubeClientOptions): HttpKubeClient {
  const { connection, clock, random, log, programs } = deps;
  const closing = new AbortController();
  // Every call listens to it.
  setMaxListeners(0, closing.signal);
  const credentials = createCredentials({ clock, log, programs, signal: closing.signal }, connection);
  const transport = createTransport({ connection, credentials, clock, log }, options.transport ?? {});
  const caller = createCaller(
    {
      clock,
      random,
      log,
      metrics: createCallMetrics(deps.metrics, new URL(connection.server).host),
      limiter: createRateLimiter(clock, options),
      credentials,
      transport: traceTransport(transport, connection.server, deps.tracing),
      closing: closing.signal,
    },
    { ...options, server: connection.server },
  );
  let closed: Promise<void> | undefined;

  return {
    ...createKubeVerbs({ caller, clock }, options),
    reconnect: transport.renew,
    close() {
      closing.abort();
      closed ??= Promise.all([transport.close(), credentials.settled()]).then(() => undefined);
      return closed;
    },
  };
}
