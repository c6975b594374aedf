import { createSocket, type Socket as DatagramSocket, type RemoteInfo } from "node:dgram";
import { setMaxListeners } from "node:events";
import { createServer, isIPv6, type Server, type Socket } from "node:net";
import { isAbort } from "../../../base/abort.ts";
import { createTally } from "../../../base/tally.ts";
import { DNS_LIMITS, type DnsHandler, type DnsLimits, type ListenDns } from "../../dns-port.ts";
import { type ClientTurns, createClientTurns } from "./client-turns.ts";
import { createMessageSplitter, frameMessage } from "./dns-frames.ts";

interface Serving {
  readonly handle: DnsHandler;
  readonly family: "ipv4" | "ipv6";
  readonly limits: DnsLimits;
  readonly onBug: (error: unknown) => void;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
}

/** A port that is free for TCP may be taken for UDP; with port 0 another one is tried. */
const PORT_ATTEMPTS = 10;

/** The real `ListenDns`. */
export const listenDns: ListenDns = async (options, handle) => {
  const stop = new AbortController();
  // Every connection and every question to another server listens.
  setMaxListeners(0, stop.signal);
  const { address, onBug } = options;
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  const limits = { ...DNS_LIMITS, ...options.limits };
  const serving: Serving = { handle, family, limits, onBug, signal: stop.signal };
  const { server, datagrams, port } = await bindBoth(address, options.port, serving);
  let closed: Promise<void> | undefined;
  const close = async () => {
    stop.abort();
    await Promise.all([
      new Promise<void>((resolve) => datagrams.close(resolve)),
      new Promise<void>((resolve) => server.close(() => resolve())),
    ]);
  };
  return {
    port,
    close() {
      closed ??= close();
      return closed;
    },
  };
};

interface Bound {
  readonly server: Server;
  readonly datagrams: DatagramSocket;
  readonly port: number;
}

async function bindBoth(address: string, wanted: number, serving: Serving): Promise<Bound> {
  for (let attempt = 1; ; attempt++) {
    const server = await bindConnections(address, wanted, serving);
    const bound = server.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : wanted;
    try {
      return { server, datagrams: await bindDatagrams(address, port, serving), port };
    } catch (error) {
      await new Promise((resolve) => server.close(resolve));
      if (wanted !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function bindConnections(address: string, port: number, serving: Serving): Promise<Server> {
  const { limits, signal } = serving;
  const connections = createTally();
  // A connection waits for one turn at a time.
  const turns = createClientTurns({
    maxWaiting: limits.maxConnections,
    maxPerClient: limits.maxConnectionsPerClient,
    signal,
  });
  const server = createServer((socket) => {
    const client = socket.remoteAddress ?? "";
    if (connections.count(client) >= limits.maxConnectionsPerClient) return socket.destroy();
    connections.add(client, 1);
    socket.on("close", () => connections.add(client, -1));
    serveConnection(socket, serving, { address: client, turns });
  });
  server.maxConnections = limits.maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: address, port }, resolve);
  });
  server.on("error", (error) => {
    // A connection that could not be accepted, for want of file descriptors, is the client's loss alone.
    if (!signal.aborted && server.listening) return;
    serving.onBug(error);
  });
  return server;
}

async function bindDatagrams(address: string, port: number, serving: Serving): Promise<DatagramSocket> {
  const type = serving.family === "ipv6" ? "udp6" : "udp4";
  const socket = createSocket({ type, recvBufferSize: RECEIVE_BUFFER_BYTES });
  serveDatagrams(socket, serving);
  await new Promise<void>((resolve, reject) => {
    socket.once("error", (error) => {
      socket.close();
      reject(error);
    });
    socket.bind({ address, port, exclusive: true }, resolve);
  });
  socket.removeAllListeners("error");
  // The kernel reports here what became of an answer, such as that the client has gone.
  socket.on("error", () => undefined);
  return socket;
}

/** The kernel gives as much of it as it gives anybody (`net.core.rmem_max`). */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
/** Those of one client that have been read and not been looked at. */
const MAX_UNSEEN_PER_CLIENT = 200;

function serveDatagrams(socket: DatagramSocket, serving: Serving): void {
  const { limits, signal } = serving;
  const options = { maxWaiting: limits.maxDatagrams, maxPerClient: MAX_UNSEEN_PER_CLIENT, signal };
  const turns = createClientTurns(options);
  const answer = createDatagramAnswers(socket, serving);
  socket.on("message", (message, from) => turns.push(from.address, () => answer(message, from)));
}

function createDatagramAnswers(socket: DatagramSocket, { handle, family, limits, onBug, signal }: Serving) {
  let waiting = 0;
  return (message: Buffer, { address: host, port: from }: RemoteInfo): void => {
    if (waiting >= limits.maxDatagrams) return;
    const send = (answer: Buffer | undefined) => {
      // What cannot be sent is lost, as any datagram may be: the client asks again.
      if (answer !== undefined && !signal.aborted) socket.send(answer, from, host, () => undefined);
    };
    const peer = { transport: "udp", family, address: host, signal } as const;
    const answer = callHandler(() => handle(message, peer), onBug);
    if (answer instanceof Promise) {
      waiting++;
      answer.then(send, reportUnlessAbort(onBug)).finally(() => waiting--);
    } else send(answer);
  };
}

function callHandler(call: () => ReturnType<DnsHandler>, onBug: (error: unknown) => void): ReturnType<DnsHandler> {
  try {
    return call();
  } catch (error) {
    onBug(error);
    return undefined;
  }
}

function reportUnlessAbort(onBug: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    if (!isAbort(error)) onBug(error);
  };
}

interface Client {
  readonly address: string;
  readonly turns: ClientTurns;
}

function serveConnection(
  socket: Socket,
  { handle, family, limits, onBug, signal }: Serving,
  { address, turns }: Client,
): void {
  const gone = new AbortController();
  const peer = { transport: "tcp", family, address, signal: gone.signal } as const;
  const splitter = createMessageSplitter();
  let waiting = 0;
  /** Runs while a message arrives: a client that sends one byte now and then is never quiet. */
  let arrival: NodeJS.Timeout | undefined;
  const cut = () => socket.destroy();
  const arrived = () => {
    clearTimeout(arrival);
    arrival = undefined;
  };
  signal.addEventListener("abort", cut, { once: true });
  socket.on("close", () => {
    signal.removeEventListener("abort", cut);
    arrived();
    gone.abort();
  });
  socket.on("error", cut);
  socket.setTimeout(limits.quietMs, cut);
  const answered = (answer: Buffer | undefined) => {
    if (answer === undefined) cut();
    else if (!socket.destroyed) socket.write(frameMessage(answer));
  };
  const isFull = () => waiting >= limits.maxPerConnection || socket.writableNeedDrain || socket.destroyed;
  const take = (message: Buffer) => {
    arrived();
    const answer = callHandler(() => handle(message, peer), onBug);
    if (!(answer instanceof Promise)) return answered(answer);
    waiting++;
    answer.then(answered, reportUnlessAbort(onBug)).finally(() => {
      waiting--;
      goOn();
    });
  };
  /** Takes a message when its turn comes, and reads on where none is left and there is room. */
  const goOn = () => {
    if (isFull()) return arrived();
    if (splitter.hasMessage) return comeInTurn();
    if (splitter.isWithinMessage) arrival ??= setTimeout(cut, limits.quietMs);
    socket.resume();
  };
  let isInLine = false;
  const comeInTurn = () => {
    if (isInLine) return;
    isInLine = true;
    turns.push(address, () => {
      isInLine = false;
      const message = isFull() ? undefined : splitter.next();
      if (message !== undefined) take(message);
      goOn();
    });
  };
  socket.on("drain", goOn);
  socket.on("data", (piece: Buffer) => {
    socket.pause();
    splitter.push(piece);
    goOn();
  });
}
