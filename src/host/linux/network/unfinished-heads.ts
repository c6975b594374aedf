import { type Client, createClientShares } from "./client-shares.ts";

/** A connection, as far as its bytes tell of a head that has not ended. */
export interface HeadReader extends Omit<Client, "heldBytes"> {
  /** Its open requests. While there is one, what comes is a body. */
  readonly open: { readonly size: number };
  readonly socket: { readonly bytesRead: number };
  /** The bytes that had been read when its last request was over. */
  readonly readBefore: number;
}

interface HeadLimits {
  readonly maxHeadBytes: number;
  readonly maxHeaderBytes: number;
}

/**
 * Finds the connections that are to make room, because unfinished heads hold more than `maxHeadBytes` in all: those with
 * most, of the user, or of the strangers' address, whose heads hold most. A head is held from its first byte on, and the
 * server hears of it with its last only, so that the bytes of the connection are what there is to count.
 */
export function findGreedyHeads<Connection extends HeadReader>(
  connections: ReadonlySet<Connection>,
  { maxHeadBytes, maxHeaderBytes }: HeadLimits,
): Connection[] {
  if (connections.size * maxHeaderBytes <= maxHeadBytes) return [];
  const shares = createClientShares();
  const clients = new Map<Client, Connection>();
  for (const connection of connections) {
    const { address, user, open, socket, readBefore } = connection;
    if (open.size > 0) continue;
    // Who speaks HTTP/2 may send other frames than those of a head.
    const client = { address, user, heldBytes: Math.min(socket.bytesRead - readBefore, maxHeaderBytes) };
    shares.come(client);
    clients.set(client, connection);
  }
  const found: Connection[] = [];
  if (shares.heldBytes <= maxHeadBytes) return found;
  const largestFirst = new Set([...clients.keys()].sort((one, other) => other.heldBytes - one.heldBytes));
  while (shares.heldBytes > maxHeadBytes) {
    const isOfGreediest = shares.findGreediest();
    const greediest = findFirst(largestFirst, isOfGreediest);
    const connection = greediest && clients.get(greediest);
    if (greediest === undefined || connection === undefined) return found;
    shares.leave(greediest);
    largestFirst.delete(greediest);
    found.push(connection);
  }
  return found;
}

function findFirst<T>(items: Iterable<T>, fits: (item: T) => boolean): T | undefined {
  for (const item of items) if (fits(item)) return item;
  return undefined;
}
