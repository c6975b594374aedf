import { setMaxListeners } from "node:events";
import type { Clock, Timer } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { KubeConnection } from "../../connection.ts";
import type { Credentials } from "../../credentials/credentials.ts";
import { chooseProxy } from "./choose-proxy.ts";
import { type ConnectionPool, createConnectionPool } from "./connection-pool.ts";
import { dial } from "./dial.ts";
import { createHttp1Connection } from "./http1-connection.ts";
import { createHttp2Connection } from "./http2-connection.ts";
import type { Connection, WireAnswer, WireRequest } from "./wire.ts";

/**
 * Two lanes with connections of their own, so that a short call never waits behind watches, however many there are and
 * however much they bring.
 */
export type Lane = "calls" | "watches";

/** The connections of one client to its server. */
export interface Transport {
  send(lane: Lane, request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
  /** Reads the certificates anew. True when they have changed: no request goes over the old connections any more. */
  rotate(): Promise<boolean>;
  /** No request goes over the present connections any more; what is under way on them ends as `retired`. */
  renew(): void;
  /** Breaks what is under way, which rejects with AbortedError. Resolves when the sockets are gone. */
  close(): Promise<void>;
}

/** Times and bounds of connections; the defaults are client-go's where it has them. */
export interface TransportOptions {
  /** Silence on a connection before the server is asked whether it is there. Default 30 s, as Go's ReadIdleTimeout. */
  readonly pingAfterMs: number;
  /** How long its answer may take. Default 15 s, as Go's PingTimeout. */
  readonly pingTimeoutMs: number;
  /** The limit for connecting, with proxy and TLS. Default 10 s. */
  readonly connectTimeoutMs: number;
  /** A connection without a request is closed after this long. Default 90 s, as Go's IdleConnTimeout. */
  readonly idleTimeoutMs: number;
  /** How often the files of certificates are looked at while there are connections. Default 5 s. */
  readonly rotationCheckMs: number;
  /** Requests on connections with old certificates are ended this long after a rotation. Default 30 s. */
  readonly retireGraceMs: number;
  /** The bound of each lane. Default 256. */
  readonly maxConnections: number;
}

const DEFAULTS: TransportOptions = {
  pingAfterMs: 30_000,
  pingTimeoutMs: 15_000,
  connectTimeoutMs: 10_000,
  idleTimeoutMs: 90_000,
  rotationCheckMs: 5_000,
  retireGraceMs: 30_000,
  maxConnections: 256,
};

interface TransportDeps {
  readonly connection: KubeConnection;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly log: Log;
}

export function createTransport(deps: TransportDeps, overrides: Partial<TransportOptions>): Transport {
  const { connection, credentials, clock, log } = deps;
  const options = { ...DEFAULTS, ...overrides };
  const { origin } = new URL(connection.server);
  const proxyUrl = connection.proxyUrl ?? chooseProxy(new URL(connection.server), process.env);
  const closing = new AbortController();
  // Every attempt to connect listens to it.
  setMaxListeners(0, closing.signal);
  /** The generation of the certificates with which connections are opened. */
  let version: number | undefined;
  let check: Timer | undefined;

  const connect = async (onChange: () => void): Promise<Connection> => {
    const material = await credentials.tls();
    turnTo(material.version);
    const { socket, protocol } = await dial(
      {
        origin,
        proxyUrl,
        secureContext: material.secureContext,
        verifyServer: connection.insecureSkipTlsVerify !== true,
        serverName: connection.tlsServerName,
      },
      { clock, timeoutMs: options.connectTimeoutMs, signal: closing.signal },
    );
    log.debug("connected to the API server", { server: origin, protocol });
    watchRotation();
    const opened =
      protocol === "h2"
        ? createHttp2Connection({ clock, socket, onChange }, { ...options, origin })
        : createHttp1Connection({ clock, socket, onChange }, origin);
    // The certificates changed while it was opened.
    if (material.version !== version) opened.retire(0);
    return opened;
  };
  const lanes: Record<Lane, ConnectionPool> = {
    calls: createConnectionPool({ clock, connect }, options),
    watches: createConnectionPool({ clock, connect }, options),
  };
  const turnTo = (next: number) => {
    if (version === next) return;
    const isRotation = version !== undefined;
    version = next;
    if (!isRotation) return;
    log.info("the client's certificates have changed; connections are opened anew", { server: origin });
    for (const lane of Object.values(lanes)) lane.retireAll(options.retireGraceMs);
  };
  const rotate = async () => {
    const before = version;
    turnTo((await credentials.tls()).version);
    return before !== undefined && before !== version;
  };
  const watchRotation = () => {
    if (!credentials.canRotate || check !== undefined || closing.signal.aborted) return;
    check = clock.setTimer(options.rotationCheckMs, () => {
      rotate()
        .catch((error: unknown) => log.debug("certificates cannot be checked", { error: messageOf(error) }))
        .finally(() => {
          check = undefined;
          if (lanes.calls.size + lanes.watches.size > 0) watchRotation();
        });
    });
  };

  return {
    send: async (lane, request, signal) => await lanes[lane].send(request, signal),
    rotate,
    renew() {
      for (const lane of Object.values(lanes)) lane.retireAll(0);
    },
    async close() {
      closing.abort();
      await Promise.all(Object.values(lanes).map(async (lane) => await lane.close()));
      check?.cancel();
    },
  };
}
