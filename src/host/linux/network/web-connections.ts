import type { Http2SecureServer, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { WebLimits } from "../../web-server.ts";
import type { Lifetime, RawRequest } from "./web-request.ts";

/** The connections of one server, of which none may cost for long what it does not use. */
export interface WebConnections {
  /** A request is served on its connection, which is in use until the lifetime is over. */
  begin(raw: RawRequest, lifetime: Lifetime): void;
  /** Ends all of them, also those that have not said anything yet. */
  close(): void;
}

/**
 * One connection.
 *
 *   greeting ──TLS──▶ quiet ◀──requests──▶ in use
 *      └── too long ──┴── too long ──▶ closed
 */
interface Connection {
  socket: Socket;
  session: ServerHttp2Session | undefined;
  readonly open: Set<Lifetime>;
  /** How long it may go on as it is while nothing is open. */
  patienceMs: number;
  /** Since when it is so, in milliseconds of a clock that only rises. */
  since: number;
}

/** How often is looked for those who take too long, as a part of the shortest time that is allowed. */
const LOOKS_PER_LIMIT = 4;

/** Follows the connections of a server that does not listen yet, and ends those that are beyond the limits. */
export function trackConnections(server: Http2SecureServer, limits: WebLimits): WebConnections {
  // In the order in which they were last used, so that the first that is quiet has been so for longest.
  const connections = new Set<Connection>();
  const byPeer = new Map<string, Connection>();
  const byCarrier = new WeakMap<object, Connection>();

  const drop = (connection: Connection) => {
    connection.session?.destroy();
    connection.socket.destroy();
    connections.delete(connection);
  };
  const use = (connection: Connection, patienceMs: number) => {
    Object.assign(connection, { patienceMs, since: performance.now() });
    if (connections.delete(connection)) connections.add(connection);
  };

  server.on("connection", (socket: Socket) => {
    if (connections.size >= limits.maxConnections) {
      const quiet = firstQuiet(connections);
      if (quiet === undefined) {
        socket.destroy();
        return;
      }
      drop(quiet);
    }
    const patienceMs = limits.greetingMs;
    const connection: Connection = {
      socket,
      session: undefined,
      open: new Set(),
      patienceMs,
      since: performance.now(),
    };
    const peer = peerOf(socket);
    connections.add(connection);
    byPeer.set(peer, connection);
    socket.once("close", () => {
      connections.delete(connection);
      if (byPeer.get(peer) === connection) byPeer.delete(peer);
    });
  });
  server.on("secureConnection", (socket: Socket) => {
    socket.setNoDelay(true);
    const connection = byPeer.get(peerOf(socket));
    if (connection === undefined) {
      socket.destroy();
      return;
    }
    byCarrier.set(socket, connection);
    connection.socket = socket;
    use(connection, limits.headersMs);
    socket.once("close", () => connections.delete(connection));
  });
  server.on("session", (session) => {
    const connection = byPeer.get(peerOf(session.socket));
    if (connection) connection.session = session;
    if (connection) byCarrier.set(session, connection);
    // A connection that breaks takes only its own streams along, and those tell their owners.
    session.on("error", () => session.destroy());
  });
  server.on("sessionError", () => undefined);
  server.on("tlsClientError", () => undefined);

  const look = setInterval(() => {
    const now = performance.now();
    for (const connection of connections) {
      if (connection.open.size === 0 && now - connection.since > connection.patienceMs) drop(connection);
      for (const lifetime of connection.open) {
        if (lifetime.waitedMs(now) > limits.waitMs) lifetime.giveUp();
      }
    }
  }, shortestOf(limits) / LOOKS_PER_LIMIT);
  look.unref();

  return {
    begin(raw, lifetime) {
      const connection = byCarrier.get(("stream" in raw ? raw.stream?.session : undefined) ?? raw.socket);
      if (connection === undefined) return;
      connection.open.add(lifetime);
      use(connection, limits.quietMs);
      lifetime.onEnd(() => {
        connection.open.delete(lifetime);
        use(connection, limits.quietMs);
      });
    },
    close() {
      clearInterval(look);
      for (const connection of connections) drop(connection);
    },
  };
}

const firstQuiet = (connections: Iterable<Connection>): Connection | undefined => {
  for (const connection of connections) if (connection.open.size === 0) return connection;
  return undefined;
};

/** The socket below TLS and the one above it are two objects with one peer. */
const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

const shortestOf = ({ greetingMs, headersMs, quietMs, waitMs }: WebLimits) =>
  Math.min(greetingMs, headersMs, quietMs, waitMs);
