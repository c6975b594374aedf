import { once } from "node:events";
import type { Duplex } from "node:stream";
import WebSocket from "ws";
import type { UpgradeRequest } from "../streams-call.ts";

/** A client as other programs have it, with what it has received. */
interface WebSocketClient {
  readonly webSocket: WebSocket;
  /** The messages so far, by their first byte. */
  readonly channels: ReadonlyMap<number, Buffer>;
  readonly messages: readonly Buffer[];
  readonly pongs: { count: number };
  /** Resolves with the code that it was closed with. */
  readonly closed: Promise<number>;
  /** Resolves when the condition holds; it is looked at after each message. */
  until(condition: () => boolean): Promise<void>;
}

/** Speaks over this connection. */
export function createWebSocketClient(socket: Duplex, protocols: readonly string[]): WebSocketClient {
  const webSocket = new WebSocket("ws://server/", [...protocols], {
    createConnection: () => socket,
    perMessageDeflate: false,
  });
  const channels = new Map<number, Buffer>();
  const messages: Buffer[] = [];
  const pongs = { count: 0 };
  webSocket.on("pong", () => {
    pongs.count++;
  });
  webSocket.on("message", (data: Buffer) => {
    messages.push(data);
    const channel = data[0] ?? -1;
    channels.set(channel, Buffer.concat([channels.get(channel) ?? Buffer.alloc(0), data.subarray(1)]));
  });
  webSocket.on("error", () => undefined);
  const closed = once(webSocket, "close").then(([code]) => Number(code));
  return {
    webSocket,
    channels,
    messages,
    pongs,
    closed,
    async until(condition) {
      while (!condition()) await once(webSocket, "message");
    },
  };
}

/** The server's end: the head of the request; what follows stays in the socket. */
export async function readRequest(socket: Duplex): Promise<UpgradeRequest> {
  let bytes = Buffer.alloc(0);
  while (!bytes.includes("\r\n\r\n")) {
    await once(socket, "readable");
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) bytes = Buffer.concat([bytes, chunk]);
  }
  const end = bytes.indexOf("\r\n\r\n");
  socket.unshift(bytes.subarray(end + 4));
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(":")).toLowerCase(),
    line.slice(line.indexOf(":") + 1).trim(),
  ]);
  return {
    method: first.split(" ")[0] ?? "",
    header: (name) => headers.filter(([key]) => key === name).map(([, value = ""]) => value),
  };
}
