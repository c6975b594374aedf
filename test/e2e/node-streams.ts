import { once } from "node:events";
import type { Readable } from "node:stream";
import WebSocket from "ws";
import { callUpgrade } from "../../src/host/linux/network/call-upgrade.ts";
import { systemClock } from "../../src/host/linux/system/system-clock.ts";
import { createSpdyConnection } from "../../src/spdy/create-spdy-connection.ts";
import type { SpdyConnection } from "../../src/spdy/spdy-connection.ts";

/** Where a node's own API is. */
interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** One connection by WebSocket to what streams, by channel. */
interface ChannelSocket {
  readonly protocol: string;
  send(channel: number, text: string): void;
  /** All that a channel has said. */
  said(channel: number): string;
  /** Resolves once a channel has said this much or that. */
  says(channel: number, words: RegExp): Promise<void>;
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Asks for streams by WebSocket; `protocol` is one of those whose first byte, or digit before base64, is the channel. */
export async function openChannels(
  { host, port }: NodeAddress,
  path: string,
  protocol: string,
): Promise<ChannelSocket> {
  const isBase64 = protocol.includes("base64");
  const socket = new WebSocket(`wss://${host}:${port}${path}`, protocol, { rejectUnauthorized: false });
  const heard = new Map<number, Buffer[]>();
  const said = (channel: number) => Buffer.concat(heard.get(channel) ?? []).toString("utf8");
  socket.on("message", (message: Buffer) => {
    const channel = isBase64 ? Number(message.subarray(0, 1).toString()) : (message[0] ?? 0);
    const rest = message.subarray(1);
    const data = isBase64 ? Buffer.from(rest.toString("latin1"), "base64") : rest;
    heard.set(channel, [...(heard.get(channel) ?? []), data]);
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise((resolve, reject) => void socket.once("open", resolve).once("error", reject));
  socket.on("error", () => undefined);
  return {
    protocol: socket.protocol,
    closed,
    said,
    send(channel, text) {
      const data = Buffer.from(text);
      socket.send(isBase64 ? `${channel}${data.toString("base64")}` : Buffer.concat([Buffer.from([channel]), data]));
    },
    async says(channel, words) {
      while (!words.test(said(channel))) {
        const isOver = await Promise.race([once(socket, "message").then(() => false), closed.then(() => true)]);
        if (isOver && !words.test(said(channel))) throw new Error(`it ended after ${JSON.stringify(said(channel))}`);
      }
    },
    close: () => socket.close(),
  };
}

/** Asks for streams by SPDY, as kubectl does; `closed` of what it gives resolves when nothing of it is left. */
export async function openSpdy({ host, port }: NodeAddress, path: string, protocol: string): Promise<SpdyConnection> {
  const headers = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": protocol };
  const to = { scheme: "https", host, port, target: path } as const;
  const call = { ...to, method: "POST", headers, tls: { rejectUnauthorized: false } };
  const result = await callUpgrade(call, new AbortController().signal);
  if (result.kind === "answered") throw new Error(`answered with ${result.status}`);
  if (result.headers["x-stream-protocol-version"] !== protocol) throw new Error("the protocol was not agreed on");
  return createSpdyConnection(result.socket, { role: "client", clock: systemClock });
}

/** All that comes, as text. */
export async function readText(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => void stream.once("end", resolve).once("close", resolve));
  return Buffer.concat(chunks).toString("utf8");
}
