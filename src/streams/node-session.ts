import type { Readable } from "node:stream";
import { untilAborted } from "../base/abort.ts";
import { createByteCollector } from "../base/byte-collector.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { UpgradeResult } from "../host/upgrade-call.ts";
import { createSpdyConnection } from "../spdy/create-spdy-connection.ts";
import type { SpdyConnection } from "../spdy/spdy-connection.ts";
import type { SpdyStream } from "../spdy/spdy-stream.ts";
import type { RequestedStreams } from "./requested-streams.ts";
import { readUpgradeRefusal } from "./stream-status.ts";
import type { ConnectNode } from "./streams-call.ts";

/** The streams of an exec or attach that a node has accepted. */
export interface NodeSession {
  readonly connection: SpdyConnection;
  readonly error: SpdyStream;
  readonly stdin: SpdyStream | undefined;
  readonly stdout: SpdyStream | undefined;
  readonly stderr: SpdyStream | undefined;
  readonly resize: SpdyStream | undefined;
}

/** The node is pinged as often as upstream does, so that proxies on the way keep the connection. */
const PING_PERIOD_MS = 5_000;
/** More of a node's refusal is not read. */
const MAX_REFUSAL_BYTES = 64 * 1024;
/** Every runtime has spoken it since Kubernetes 1.4; older versions have no exit codes. */
const STREAM_PROTOCOL_V4 = "v4.channel.k8s.io";

/** Rejects with the message that the client is to be told, in client-go's words. */
export async function openNodeSession(
  connect: ConnectNode,
  {
    clock,
    streams,
    signal,
  }: { readonly clock: Clock; readonly streams: RequestedStreams; readonly signal: AbortSignal },
): Promise<NodeSession> {
  const socket = await upgrade(connect, signal);
  const connection = createSpdyConnection(socket, { role: "client", clock, pingPeriodMs: PING_PERIOD_MS });
  try {
    // One after the other: the node waits for all of them, and spdystream wants their numbers to rise.
    const open = async (streamType: string) => await connection.openStream({ streamType }, { signal });
    const error = await open("error");
    const stdin = streams.stdin ? await open("stdin") : undefined;
    const stdout = streams.stdout ? await open("stdout") : undefined;
    // A terminal has one output.
    const stderr = streams.stderr && !streams.tty ? await open("stderr") : undefined;
    const resize = streams.tty ? await open("resize") : undefined;
    return { connection, error, stdin, stdout, stderr, resize };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function upgrade(connect: ConnectNode, signal: AbortSignal) {
  const result = await callNode(connect, signal);
  if (result.kind === "answered") {
    if (result.status >= 300 && result.status < 400) {
      result.body.destroy();
      throw new Error("error sending request: redirect not allowed");
    }
    const body = await untilAborted(readSome(result.body), signal).finally(() => result.body.destroy());
    throw new Error(`unable to upgrade connection: ${readUpgradeRefusal(body)}`);
  }
  const fault = findFault(result.headers);
  if (fault === undefined) return result.socket;
  result.socket.destroy();
  throw new Error(`unable to upgrade connection: ${fault}`);
}

async function callNode(connect: ConnectNode, signal: AbortSignal): Promise<UpgradeResult> {
  const headers = spdyRequestHeaders([STREAM_PROTOCOL_V4]);
  try {
    return await connect(headers, signal);
  } catch (error) {
    throw new Error(`error sending request: ${messageOf(error)}`, { cause: error });
  }
}

/** The headers that ask a server for SPDY, with any of these protocols in it. */
export function spdyRequestHeaders(protocols: readonly string[]): Record<string, string | readonly string[]> {
  return { Connection: "Upgrade", Upgrade: "SPDY/3.1", "X-Stream-Protocol-Version": protocols };
}

/** Whether a server that changed the protocol has changed it to SPDY. */
export function isSpdyAgreed(headers: UpgradeResult["headers"]): boolean {
  return (
    headerOf(headers, "connection").toLowerCase().includes("upgrade") &&
    headerOf(headers, "upgrade").toLowerCase().includes("spdy/3.1")
  );
}

/** The protocol within SPDY that a server chose; "" where it named none. */
export function readChosenProtocol(headers: UpgradeResult["headers"]): string {
  return headerOf(headers, "x-stream-protocol-version").trim();
}

function findFault(headers: UpgradeResult["headers"]): string | undefined {
  if (!isSpdyAgreed(headers)) return "the server answered with another protocol than SPDY/3.1";
  const chosen = readChosenProtocol(headers);
  return chosen === STREAM_PROTOCOL_V4 ? undefined : `the server chose the protocol ${JSON.stringify(chosen)}`;
}

function headerOf(headers: UpgradeResult["headers"], name: string): string {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? "";
  return [found].flat().join(", ");
}

/** The first `MAX_REFUSAL_BYTES` of a body. */
async function readSome(body: Readable): Promise<string> {
  const collected = createByteCollector();
  try {
    for await (const chunk of body) {
      collected.add(Buffer.from(chunk));
      if (collected.length >= MAX_REFUSAL_BYTES) break;
    }
  } catch {
    // The part that came before the break says more than nothing.
  }
  return collected.take().toString("utf8", 0, MAX_REFUSAL_BYTES);
}
