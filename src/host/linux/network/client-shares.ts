import { createTally } from "../../../base/tally.ts";

/** Whoever has a connection. */
export interface Client {
  /** The client's address; "" over a unix socket. */
  readonly address: string;
  /** The user whom the client has proven to be; undefined for a stranger. */
  user: string | undefined;
  /** The bytes that the open requests of the connection hold. */
  heldBytes: number;
}

/** What clients take of one server. Strangers count by their address, known clients by their user. */
interface ClientShares {
  come(client: Client): void;
  leave(client: Client): void;
  /** Notes that the client's requests hold so many bytes more, or fewer where it is negative. */
  hold(client: Client, bytes: number): void;
  /** The bytes that the requests of all clients hold. */
  readonly heldBytes: number;
  /** The connections of strangers. */
  readonly strangers: number;
  /** The address that has most connections of strangers; undefined where there are none. */
  busiestAddress(): string | undefined;
  /** The user who has most connections; undefined where nobody has two. */
  busiestUser(): string | undefined;
  /** Says of a client whether it is of the user, or of the strangers' address, that holds most bytes. */
  findGreediest(): (client: Client) => boolean;
}

export function createClientShares(): ClientShares {
  const strangers = createTally();
  const users = createTally();
  const held = createTally();
  let [heldBytes, strangerCount] = [0, 0];
  const count = (client: Client, change: 1 | -1) => {
    if (client.user !== undefined) users.add(client.user, change);
    else {
      strangers.add(client.address, change);
      strangerCount += change;
    }
    held.add(ownerOf(client), change * client.heldBytes);
    heldBytes += change * client.heldBytes;
  };
  return {
    come: (client) => count(client, 1),
    leave: (client) => count(client, -1),
    hold(client, bytes) {
      client.heldBytes += bytes;
      held.add(ownerOf(client), bytes);
      heldBytes += bytes;
    },
    get heldBytes() {
      return heldBytes;
    },
    get strangers() {
      return strangerCount;
    },
    busiestAddress: strangers.highest,
    busiestUser() {
      const user = users.highest();
      return user !== undefined && users.count(user) > 1 ? user : undefined;
    },
    findGreediest() {
      const greediest = held.highest();
      return (client) => ownerOf(client) === greediest;
    },
  };
}

const ownerOf = ({ user, address }: Client) => (user === undefined ? `address ${address}` : `user ${user}`);
