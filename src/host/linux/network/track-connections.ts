import type { ServerHttp2Session } from "node:http2";
import type { Server, Socket } from "node:net";
import { createTally } from "../../../base/tally.ts";
import type { HttpLimits, HttpServerOptions } from "../../http-server.ts";
import type { Lifetime, RawRequest } from "./served-request.ts";

/** The connections of one server. None may hold unused resources for long. */
export interface TrackedConnections {
  /** Notes that a request is served on its connection, which is in use until the lifetime is over. */
  begin(raw: RawRequest, lifetime: Lifetime): void;
  /** True for a request on a connection from before `retire`. */
  isStale(raw: RawRequest): boolean;
  /** Makes the open connections end with their next answers. */
  retire(): void;
  /** Ends all connections, also those that have not said anything yet. */
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
  /** Milliseconds that the connection may stay as it is while no request is open. */
  patienceMs: number;
  /** The beginning of that time, in milliseconds of a clock that only rises. */
  since: number;
  /** The address of the client; "" over a unix socket. */
  readonly address: string;
  /** The client has proven who it is. */
  isKnown: boolean;
  isStale: boolean;
}

interface TrackOptions {
  readonly limits: HttpLimits;
  /** The server speaks TLS. */
  readonly isSecure: boolean;
  readonly takes?: HttpServerOptions["takes"];
}

/** Overdue connections are looked for this many times within the shortest limit. */
const LOOKS_PER_LIMIT = 4;

/** Follows the connections of a server that does not listen yet, and ends those that are beyond the limits. */
export function trackConnections(server: Server, { limits, isSecure, takes }: TrackOptions): TrackedConnections {
  // The connections are in the order of their last use, so that the first quiet one has been quiet for longest.
  const connections = new Set<Connection>();
  const strangers = countStrangers();
  const byPeer = new Map<string, Connection>();
  const byCarrier = new WeakMap<object, Connection>();

  const drop = (connection: Connection) => {
    connection.session?.destroy();
    connection.socket.destroy();
    remove(connection);
  };
  const remove = (connection: Connection) => {
    if (connections.delete(connection)) strangers.leave(connection);
  };
  const use = (connection: Connection, patienceMs: number) => {
    Object.assign(connection, { patienceMs, since: performance.now() });
    if (connections.delete(connection)) connections.add(connection);
  };
  const find = (raw: RawRequest) => byCarrier.get(raw.stream?.session ?? raw.socket);

  server.on("connection", (socket: Socket) => {
    const { remoteAddress = "", localAddress = "" } = socket;
    if (takes?.(remoteAddress, localAddress) === false) {
      socket.destroy();
      return;
    }
    if (connections.size >= limits.maxConnections) {
      const least = findLeast(connections, strangers.busiestAddress());
      if (least === undefined) {
        socket.destroy();
        return;
      }
      drop(least);
    }
    const connection: Connection = {
      ...{ socket, session: undefined, open: new Set(), isStale: false, since: performance.now() },
      patienceMs: isSecure ? limits.greetingMs : limits.headersMs,
      ...{ address: remoteAddress, isKnown: false },
    };
    connections.add(connection);
    strangers.come(connection);
    socket.once("close", () => remove(connection));
    if (!isSecure) {
      byCarrier.set(socket, connection);
      return;
    }
    const peer = peerOf(socket);
    byPeer.set(peer, connection);
    socket.once("close", () => {
      if (byPeer.get(peer) === connection) byPeer.delete(peer);
    });
  });
  server.on("secureConnection", (socket: Socket) => {
    const connection = byPeer.get(peerOf(socket));
    if (connection === undefined) {
      socket.destroy();
      return;
    }
    byCarrier.set(socket, connection);
    connection.socket = socket;
    use(connection, limits.headersMs);
    socket.once("close", () => remove(connection));
  });
  server.on("session", (session: ServerHttp2Session) => {
    const connection = byPeer.get(peerOf(session.socket));
    if (connection) connection.session = session;
    if (connection) byCarrier.set(session, connection);
    // A connection that breaks takes only its own streams along, and those tell their owners.
    session.on("error", () => session.destroy());
  });
  server.on("sessionError", () => undefined);
  server.on("tlsClientError", () => undefined);

  const stopLooking = lookAt(connections, limits, drop);

  return {
    begin(raw, lifetime) {
      const connection = find(raw);
      if (connection === undefined) return;
      connection.open.add(lifetime);
      use(connection, limits.quietMs);
      lifetime.onVouch(() => {
        if (!connections.has(connection)) return;
        strangers.leave(connection);
        connection.isKnown = true;
      });
      lifetime.onEnd(() => {
        connection.open.delete(lifetime);
        use(connection, limits.quietMs);
      });
    },
    isStale: (raw) => find(raw)?.isStale ?? true,
    retire() {
      for (const connection of connections) {
        connection.isStale = true;
        connection.session?.close();
      }
    },
    close() {
      stopLooking();
      for (const connection of connections) drop(connection);
    },
  };
}

/** Ends the connections that take too long, again and again until the returned function is called. */
function lookAt(
  connections: Iterable<Connection>,
  limits: HttpLimits,
  drop: (connection: Connection) => void,
): () => void {
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
  return () => clearInterval(look);
}

/** The connection that makes room for another; the connections are in the order of their last use. */
function findLeast(connections: Iterable<Connection>, busiestAddress: string | undefined): Connection | undefined {
  const first = (fits: (connection: Connection) => boolean) => {
    for (const connection of connections) if (fits(connection)) return connection;
    return undefined;
  };
  const isQuiet = ({ open }: Connection) => open.size === 0;
  const isOfBusiest = ({ isKnown, address }: Connection) => !isKnown && address === busiestAddress;
  return first((each) => isOfBusiest(each) && isQuiet(each)) ?? first(isOfBusiest) ?? first(isQuiet);
}

/** Counts the connections of strangers by address, so that one who opens many makes room by closing their own. */
function countStrangers() {
  const counts = createTally();
  return {
    come: ({ address }: Connection) => counts.add(address, 1),
    /** The connection has gone, or is no stranger's any more. */
    leave({ address, isKnown }: Connection) {
      if (!isKnown) counts.add(address, -1);
    },
    busiestAddress: counts.highest,
  };
}

/** The socket below TLS and the one above it are two objects with one peer. */
const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

const shortestOf = ({ greetingMs, headersMs, quietMs, waitMs }: HttpLimits) =>
  Math.min(greetingMs, headersMs, quietMs, waitMs);
