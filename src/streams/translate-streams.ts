import type { Duplex, Readable } from "node:stream";
import { Writable } from "node:stream";
import { childController, isAbort, untilAborted } from "../base/abort.ts";
import { createByteCollector } from "../base/byte-collector.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type AcceptWebSocket, CLOSE_CODES, type ServedWebSocket, type WebSocketHandler } from "../host/web-socket.ts";
import { CHANNELS, type ChannelSink, createChannelInput, createChannelReader, createGate } from "./channels.ts";
import { type NodeSession, openNodeSession } from "./node-session.ts";
import { endWith } from "./refuse-request.ts";
import type { RequestedStreams } from "./requested-streams.ts";
import { codeOfOutcome, describeOutcome, readErrorStream, type StreamOutcome } from "./stream-status.ts";
import type { StreamsCall } from "./streams-call.ts";
import { readHandshakeKey, refuseHandshake } from "./web-socket-handshake.ts";
import { STREAM_PROTOCOL_V5 } from "./websocket-request.ts";

interface TranslateDeps {
  readonly acceptWebSocket: AcceptWebSocket;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the connection when no message came or went for this many milliseconds. Default: four hours; 0 means never. */
  readonly idleTimeoutMs?: number;
  /** Counts requests by the HTTP status that would have been theirs. */
  count(code: number): void;
}

/** As kube-apiserver's and kubelet's. */
const IDLE_TIMEOUT_MS = 4 * 60 * 60 * 1000;
/** Milliseconds that the client may take for the last output and the status. */
const STATUS_GRACE_MS = 10_000;
/** A Status has a message and a code. */
const MAX_ERROR_BYTES = 1024 * 1024;

/** The channels of one WebSocket, and the streams of one SPDY connection. Resolves when both have closed. */
export async function translateStreams(
  { acceptWebSocket, clock, log, count, idleTimeoutMs = IDLE_TIMEOUT_MS }: TranslateDeps,
  { request, socket, connect, signal }: StreamsCall,
  streams: RequestedStreams,
): Promise<void> {
  socket.on("error", () => undefined);
  const refusal = refuseHandshake(request);
  if (refusal !== undefined) {
    count(400);
    await endWith(socket, refusal);
    return;
  }
  const { controller, release } = childController(signal);
  const accept = (handler: WebSocketHandler) =>
    acceptWebSocket({
      ...{ clock, socket, handler, key: readHandshakeKey(request) },
      ...{ protocol: STREAM_PROTOCOL_V5, ...(idleTimeoutMs > 0 && { idleTimeoutMs }) },
    });
  const client = acceptChannels({ accept, streams, onGone: () => controller.abort() });
  let session: NodeSession | undefined;
  let outcome: StreamOutcome | undefined;
  try {
    session = await openNodeSession(connect, { clock, streams, signal: controller.signal });
    client.attach(session);
    outcome = await untilAborted(runSession(session, client.webSocket), controller.signal);
  } catch (error) {
    if (!controller.signal.aborted && !isAbort(error)) outcome = { kind: "failed", message: messageOf(error) };
  }
  release();
  const nodeClosed = session?.connection.close();
  if (outcome !== undefined) {
    if (outcome.kind === "failed") log.debug("an exec or attach failed", { error: outcome.message });
    count(codeOfOutcome(outcome));
    sendOn(client.webSocket, CHANNELS.error, Buffer.from(JSON.stringify(describeOutcome(outcome))), () => undefined);
  }
  client.webSocket.close(outcome === undefined ? CLOSE_CODES.goingAway : CLOSE_CODES.normal, STATUS_GRACE_MS);
  await Promise.all([nodeClosed, client.webSocket.closed]);
}

interface ClientParts {
  accept(handler: WebSocketHandler): ServedWebSocket;
  readonly streams: RequestedStreams;
  readonly onGone: () => void;
}

/** Accepts the client's WebSocket. Its input waits until there are streams that take it. */
function acceptChannels({ accept, streams, onGone }: ClientParts) {
  const stdin = createChannelInput(() => gate);
  const resize = createChannelInput(() => gate);
  const inputOf = (channel: number) => {
    if (channel === CHANNELS.stdin && streams.stdin) return stdin;
    return channel === CHANNELS.resize && streams.tty ? resize : undefined;
  };
  const sink: ChannelSink = {
    data: (channel, bytes) => inputOf(channel)?.write(bytes),
    ended: (channel) => inputOf(channel)?.end(),
    broken: () => webSocket.close(CLOSE_CODES.normal),
  };
  const webSocket = accept({ message: createChannelReader(sink), end: onGone });
  const gate = createGate(webSocket);
  // Clients wait for a message before they believe that they are connected.
  const first = streams.stdout ? CHANNELS.stdout : streams.stderr ? CHANNELS.stderr : CHANNELS.error;
  sendOn(webSocket, first, Buffer.alloc(0), () => undefined);
  return {
    webSocket,
    attach(session: NodeSession) {
      if (session.stdin !== undefined) {
        stdin.attach(session.stdin);
        endWithPeer(session.stdin);
      }
      if (session.resize !== undefined) resize.attach(session.resize);
    },
  };
}

/** Ends the input of a command that has closed it, as client-go does. */
function endWithPeer(stdin: Duplex): void {
  stdin.resume();
  stdin.once("end", () => stdin.end());
}

async function runSession(session: NodeSession, webSocket: ServedWebSocket): Promise<StreamOutcome> {
  const error = readAll(session.error);
  // It is awaited later, and must not be an unhandled rejection until then.
  error.catch(() => undefined);
  await Promise.all([
    copyOut(session.stdout, CHANNELS.stdout, webSocket),
    copyOut(session.stderr, CHANNELS.stderr, webSocket),
  ]);
  try {
    return readErrorStream(await error);
  } catch (cause) {
    // Upstream takes a connection that broke for a command that was successful.
    return { kind: "failed", message: `error reading from error stream: ${messageOf(cause)}` };
  }
}

/** Resolves when all has been handed to the client's connection, or no more comes. */
async function copyOut(stream: Readable | undefined, channel: number, webSocket: ServedWebSocket): Promise<void> {
  if (stream === undefined) return;
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, callback) => sendOn(webSocket, channel, chunk, callback),
  });
  sink.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    sink.once("close", resolve);
    // A stream that breaks has no end that `pipe` would pass on.
    stream.once("close", () => sink.end());
    stream.pipe(sink);
  });
}

async function readAll(stream: Readable): Promise<string> {
  const collected = createByteCollector();
  await new Promise<void>((resolve, reject) => {
    stream.on("data", (chunk: Buffer) => {
      collected.add(chunk);
      if (collected.length > MAX_ERROR_BYTES) stream.destroy(new Error(`more than ${MAX_ERROR_BYTES} bytes`));
    });
    stream.once("end", resolve);
    stream.once("close", () => reject(stream.errored ?? new Error("the stream has closed")));
  });
  return collected.take().toString();
}

function sendOn(webSocket: ServedWebSocket, channel: number, bytes: Buffer, done: (error: Error | null) => void): void {
  webSocket.send([Buffer.from([channel]), bytes], done);
}
