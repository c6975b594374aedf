import type { ServerHttp2Session } from "node:http2";
import type { Server, Socket } from "node:net";
import type { HttpLimits, HttpServerOptions } from "../../http-server.ts";
import { createBurstCounter } from "./burst-counter.ts";
import { type ChunkAllowance, createChunkAllowance } from "./chunk-allowance.ts";
import { type Client, createClientShares } from "./client-shares.ts";
import type { Lifetime, LifetimeWatcher, RawRequest } from "./served-request.ts";
import { findGreedyHeads } from "./unfinished-heads.ts";

/** The connections of one server. None may hold unused resources for long. */
export interface TrackedConnections {
  /**
   * Notes that a request is served on its connection, which is in use until the lifetime is over. False where the client has
   * taken the request back already.
   */
  begin(raw: RawRequest, lifetime: Lifetime): boolean;
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
interface Connection extends Client {
  socket: Socket;
  session: ServerHttp2Session | undefined;
  readonly open: Set<Lifetime>;
  /** Hears of the lifetimes of all requests; made with the first. */
  watcher: LifetimeWatcher | undefined;
  /** What the bodies of all its requests may come in; made with the first small one. */
  chunks: ChunkAllowance | undefined;
  /** Milliseconds that the connection may stay as it is while no request is open. */
  patienceMs: number;
  /** The beginning of that time, in milliseconds of a clock that only rises. */
  since: number;
  /** The bytes that had been read when no request was open any more. */
  readBefore: number;
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

/** Milliseconds between two looks at the heads that have not ended: clients send tens of megabytes meanwhile. */
const HEAD_LOOK_MS = 250;

/**
 * Requests that a connection may begin within one turn of the event loop, to those that may be open. Who keeps to that number
 * may still have had answers within the turn.
 */
const MAX_BURST = 2;

/** Follows the connections of a server that does not listen yet, and ends those that are beyond the limits. */
export function trackConnections(server: Server, { limits, isSecure, takes }: TrackOptions): TrackedConnections {
  // The connections are in the order of their last use, so that the first quiet one has been quiet for longest.
  const connections = new Set<Connection>();
  const shares = createClientShares();
  const byPeer = new Map<string, Connection>();
  const byCarrier = new WeakMap<object, Connection>();
  const bursts = createBurstCounter<Connection>(setImmediate);

  const drop = (connection: Connection) => {
    connection.session?.destroy();
    connection.socket.destroy();
    remove(connection);
  };
  const remove = (connection: Connection) => {
    if (connections.delete(connection)) shares.leave(connection);
  };
  const use = (connection: Connection, patienceMs: number) => {
    Object.assign(connection, { patienceMs, since: performance.now() });
    if (connections.delete(connection)) connections.add(connection);
  };
  const watch = (connection: Connection): LifetimeWatcher => ({
    vouched(user) {
      // Whoever passes requests of many on has proven to be the first of them.
      if (connection.user !== undefined || !connections.has(connection)) return;
      shares.leave(connection);
      connection.user = user;
      shares.come(connection);
      if (connection.session?.closed === false)
        connection.session.settings({ maxConcurrentStreams: limits.maxStreams });
    },
    held(bytes) {
      if (!connections.has(connection)) return;
      shares.hold(connection, bytes);
      while (shares.heldBytes > limits.maxHeldBytes) {
        const greediest = findGreediest(connections, shares);
        if (greediest === undefined) return;
        drop(greediest);
      }
    },
    takesChunk(bytes, fairBytes) {
      connection.chunks ??= createChunkAllowance(() => performance.now());
      const verdict = connection.chunks.take(bytes, fairBytes);
      if (verdict === "excessive") drop(connection);
      return verdict === "fair";
    },
    ended(lifetime) {
      connection.open.delete(lifetime);
      if (connections.has(connection)) shares.hold(connection, -lifetime.heldBytes);
      connection.readBefore = connection.socket.bytesRead;
      use(connection, limits.quietMs);
    },
  });
  const maxBurst = ({ user }: Client) =>
    MAX_BURST * (user === undefined ? limits.maxStrangersStreams : limits.maxStreams);
  const find = (raw: RawRequest) => byCarrier.get(raw.stream?.session ?? raw.socket);

  server.on("connection", (socket: Socket) => {
    const { remoteAddress = "", localAddress = "" } = socket;
    if (takes?.(remoteAddress, localAddress) === false) {
      socket.destroy();
      return;
    }
    if (connections.size >= limits.maxConnections || shares.strangers >= limits.maxStrangers) {
      const least = findLeast(connections, shares);
      if (least === undefined) {
        socket.destroy();
        return;
      }
      drop(least);
    }
    const connection: Connection = {
      ...{ socket, session: undefined, open: new Set(), isStale: false, since: performance.now(), readBefore: 0 },
      patienceMs: isSecure ? limits.greetingMs : limits.headersMs,
      ...{ address: remoteAddress, user: undefined, heldBytes: 0, watcher: undefined, chunks: undefined },
    };
    connections.add(connection);
    shares.come(connection);
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
    // Streams that were taken back do not tell of which session they were.
    session.on("stream", () => {
      if (connection && bursts.add(connection) > maxBurst(connection)) drop(connection);
    });
    // A connection that breaks takes only its own streams along, and those tell their owners.
    session.on("error", () => session.destroy());
  });
  server.on("sessionError", () => undefined);
  server.on("tlsClientError", () => undefined);

  const stopLooking = lookAt(connections, limits, drop);

  return {
    begin(raw, lifetime) {
      if (raw.stream?.destroyed === true) return false;
      const connection = find(raw);
      if (connection === undefined) return true;
      connection.open.add(lifetime);
      use(connection, limits.quietMs);
      connection.watcher ??= watch(connection);
      lifetime.watchBy(connection.watcher);
      return true;
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
  connections: ReadonlySet<Connection>,
  limits: HttpLimits,
  drop: (connection: Connection) => void,
): () => void {
  const lookAtHeads = setInterval(() => {
    for (const connection of findGreedyHeads(connections, limits)) drop(connection);
  }, HEAD_LOOK_MS);
  lookAtHeads.unref();
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
  return () => {
    clearInterval(lookAtHeads);
    clearInterval(look);
  };
}

type Shares = ReturnType<typeof createClientShares>;

/** The connection that makes room for another; the connections are in the order of their last use. */
function findLeast(connections: Iterable<Connection>, shares: Shares): Connection | undefined {
  const [busiestAddress, busiestUser] = [shares.busiestAddress(), shares.busiestUser()];
  const first = (fits: (connection: Connection) => boolean) => {
    for (const connection of connections) if (fits(connection)) return connection;
    return undefined;
  };
  const isQuiet = ({ open }: Connection) => open.size === 0;
  const isOfBusiest = ({ user, address }: Connection) => user === undefined && address === busiestAddress;
  const isOfBusiestUser = ({ user }: Connection) => user !== undefined && user === busiestUser;
  return (
    first((each) => isOfBusiest(each) && isQuiet(each)) ??
    first(isOfBusiest) ??
    first(isQuiet) ??
    first(isOfBusiestUser)
  );
}

/** The connection that makes room for the bytes of others. */
function findGreediest(connections: Iterable<Connection>, shares: Shares): Connection | undefined {
  const isOfGreediest = shares.findGreediest();
  let greediest: Connection | undefined;
  for (const connection of connections) {
    if (isOfGreediest(connection) && connection.heldBytes >= (greediest?.heldBytes ?? 0)) greediest = connection;
  }
  return greediest;
}

/** The socket below TLS and the one above it are two objects with one peer. */
const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

const shortestOf = ({ greetingMs, headersMs, quietMs, waitMs }: HttpLimits) =>
  Math.min(greetingMs, headersMs, quietMs, waitMs);
