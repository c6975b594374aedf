import type { Socket } from "node:net";

/** The requests of one connection of HTTP/1.1. */
interface RequestLine {
  /** A request is being served. */
  isBusy: boolean;
  /** The turns of the requests that wait, the oldest first. */
  readonly waiting: Array<() => void>;
}

/** The part of an answer that tells when it is over. */
interface EndingAnswer {
  once(event: "close", listener: () => void): unknown;
}

/**
 * How many requests may wait for the answer to an earlier one. No client of Kubernetes sends one before it is answered;
 * a client that sends more is cut off.
 */
export const MAX_WAITING_REQUESTS = 32;

const lines = new WeakMap<Socket, RequestLine>();

/**
 * Lets the requests of a connection in one at a time. Node.js hands on all that have come, and keeps the answers that
 * cannot be sent yet: 3,000 requests of a single write made 3,000 answers, which took a thousand times the memory of the
 * requests. Returns undefined for a request that may be served now, else a promise of its turn, which also comes when the
 * connection has closed; `refused` when too many wait.
 */
export function joinRequestLine(socket: Socket, answer: EndingAnswer): Promise<void> | "refused" | undefined {
  const line = lines.get(socket) ?? openLine(socket);
  const leave = () => {
    line.isBusy = false;
    line.waiting.shift()?.();
  };
  if (!line.isBusy) {
    line.isBusy = true;
    answer.once("close", leave);
    return undefined;
  }
  if (line.waiting.length >= MAX_WAITING_REQUESTS) return "refused";
  return new Promise<void>((resolve) => {
    line.waiting.push(() => {
      line.isBusy = true;
      answer.once("close", leave);
      resolve();
    });
  });
}

function openLine(socket: Socket): RequestLine {
  const line: RequestLine = { isBusy: false, waiting: [] };
  lines.set(socket, line);
  // The answers to requests that wait do not tell of a connection that has closed.
  socket.once("close", () => {
    for (const turn of line.waiting.splice(0)) turn();
  });
  return line;
}
