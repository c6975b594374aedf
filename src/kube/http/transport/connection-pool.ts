import { AbortedError } from "../../../base/abort.ts";
import type { Clock, Timer } from "../../../base/clock.ts";
import { type Connection, TransportError, type WireAnswer, type WireRequest } from "./wire.ts";

interface PoolDeps {
  readonly clock: Clock;
  /** Opens a connection, which calls `onChange` when it takes more requests or is gone. */
  connect(onChange: () => void): Promise<Connection>;
}

interface PoolOptions {
  /** The number of connections. Requests beyond their places wait until one ends. */
  readonly maxConnections: number;
  /** A connection without a request for so long is closed. Go's IdleConnTimeout. */
  readonly idleTimeoutMs: number;
}

/** The connections for one sort of request: as many as their servers' limits on streams make necessary. */
export interface ConnectionPool {
  /** Sends on a connection that has a place, and opens one where none has. */
  send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
  /** No more requests go over the connections that are open now. */
  retireAll(graceMs: number): void;
  readonly size: number;
  /** Breaks everything; what is under way rejects with AbortedError. Resolves when the sockets are gone. */
  close(): Promise<void>;
}

interface Waiter {
  take(connection: Connection): void;
  fail(error: Error): void;
}

/** The number of connections that a burst on HTTP/1.1 opens at a time. */
const MAX_DIALS = 16;

export function createConnectionPool({ clock, connect }: PoolDeps, options: PoolOptions): ConnectionPool {
  const connections = new Map<Connection, Timer | undefined>();
  const line: Waiter[] = [];
  const dials = new Set<Promise<void>>();
  let protocol: Connection["protocol"] | undefined;
  let isClosed = false;

  const findFree = () => [...connections.keys()].find(({ free }) => free > 0);
  const serve = () => {
    while (line.length > 0) {
      const connection = findFree();
      if (connection === undefined) break;
      line.shift()?.take(connection);
    }
    if (line.length > 0) grow();
  };
  const grow = () => {
    if ([...connections.keys()].some(({ isSettling }) => isSettling)) return;
    // One HTTP/2 connection takes all requests, and one of HTTP/1.1 takes a single one: the first connection shows which.
    const wanted = protocol === "http/1.1" ? Math.min(line.length, MAX_DIALS) : 1;
    while (!isClosed && dials.size < wanted && connections.size + dials.size < options.maxConnections) {
      const attempt = open().finally(() => {
        dials.delete(attempt);
        if (!isClosed) serve();
      });
      dials.add(attempt);
    }
  };
  const open = async () => {
    let connection: Connection | undefined;
    const onChange = () => {
      if (connection === undefined || isClosed) return;
      watchIdle(connection);
      serve();
    };
    try {
      connection = await connect(onChange);
    } catch (error) {
      for (const waiter of line.splice(0)) waiter.fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    add(connection);
  };
  const add = (connection: Connection) => {
    protocol = connection.protocol;
    connections.set(connection, undefined);
    const forget = () => {
      connections.get(connection)?.cancel();
      connections.delete(connection);
    };
    connection.closed.then(forget, forget);
    watchIdle(connection);
  };
  const watchIdle = (connection: Connection) => {
    if (!connections.has(connection)) return;
    const timer = connections.get(connection);
    if (connection.active > 0) {
      timer?.cancel();
      connections.set(connection, undefined);
    } else if (timer === undefined) {
      connections.set(
        connection,
        clock.setTimer(options.idleTimeoutMs, () => {
          connections.set(connection, undefined);
          if (connection.active === 0) connection.retire(0);
        }),
      );
    }
  };
  const sendOn = (connection: Connection, request: WireRequest, signal: AbortSignal) => {
    const answer = connection.send(request, signal);
    watchIdle(connection);
    return answer;
  };

  return {
    async send(request, signal) {
      if (isClosed || signal.aborted) throw new AbortedError();
      const connection = line.length === 0 ? findFree() : undefined;
      if (connection !== undefined) return await sendOn(connection, request, signal);
      return await new Promise<WireAnswer>((resolve, reject) => {
        const leave = () => {
          line.splice(line.indexOf(waiter), 1);
          reject(new AbortedError());
        };
        const waiter: Waiter = {
          take(taken) {
            signal.removeEventListener("abort", leave);
            resolve(sendOn(taken, request, signal));
          },
          fail(error) {
            signal.removeEventListener("abort", leave);
            reject(error);
          },
        };
        signal.addEventListener("abort", leave, { once: true });
        line.push(waiter);
        grow();
      });
    },
    retireAll(graceMs) {
      for (const connection of connections.keys()) connection.retire(graceMs);
    },
    get size() {
      return connections.size;
    },
    async close() {
      isClosed = true;
      for (const waiter of line.splice(0)) waiter.fail(new AbortedError());
      await Promise.all(dials);
      for (const timer of connections.values()) timer?.cancel();
      const open = [...connections.keys()];
      for (const connection of open) connection.destroy(new TransportError("broken", "the client was closed"));
      await Promise.all(open.map(({ closed }) => closed));
    },
  };
}
