import { createTurnQueue } from "../../../base/turn-queue.ts";

/** Does the work of clients, each in its turn, and between the reading of their sockets. */
export interface ClientTurns {
  /** The work is done later, or dropped where the client has too much of it. */
  push(client: string, work: () => void): void;
}

interface ClientTurnsOptions {
  readonly maxWaiting: number;
  readonly maxPerClient: number;
  /** Nothing is done any more when it has fired. */
  readonly signal: AbortSignal;
}

/**
 * Done before the sockets are read again, some 32 datagrams at a time. More is read than is done, or the socket would stay
 * full of what one client asks, and the kernel would drop what others ask.
 */
const DONE_AT_A_TIME = 8;

export function createClientTurns({ maxWaiting, maxPerClient, signal }: ClientTurnsOptions): ClientTurns {
  const queue = createTurnQueue<() => void>({ maxItems: maxWaiting, maxPerOwner: maxPerClient });
  let isComing = false;
  const doSome = () => {
    isComing = false;
    for (let done = 0; done < DONE_AT_A_TIME && !signal.aborted; done++) queue.take()?.();
    if (queue.length > 0) come();
  };
  const come = () => {
    if (isComing || signal.aborted) return;
    isComing = true;
    setImmediate(doSome);
  };
  return {
    push(client, work) {
      queue.push(client, work);
      come();
    },
  };
}
