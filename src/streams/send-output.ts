import type { Readable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import { type AcceptWebSocket, CLOSE_CODES, type ServedWebSocket } from "../host/web-socket.ts";
import { formatAnswer } from "./http-answer.ts";
import { endWith } from "./refuse-request.ts";
import type { StreamsCall } from "./streams-call.ts";
import { readHandshakeKey, refuseHandshake } from "./web-socket-handshake.ts";
import { readSubprotocols } from "./websocket-request.ts";

interface OutputDeps {
  readonly acceptWebSocket: AcceptWebSocket;
  readonly clock: Clock;
}

/** The protocol in which messages are the bytes as they are. It is also what a client gets that names none. */
const BINARY_PROTOCOL = "binary.k8s.io";
/** As kube-apiserver's. */
const IDLE_TIMEOUT_MS = 4 * 60 * 60 * 1000;
/** Milliseconds that the client may take for the last of it. */
const END_GRACE_MS = 10_000;

/**
 * Sends a stream to a client that asked for it by a WebSocket, such as a log, in messages without channels. Resolves when
 * the stream or the client has ended; never rejects.
 */
export async function sendOutput(
  { acceptWebSocket, clock }: OutputDeps,
  { request, socket, signal }: Omit<StreamsCall, "connect">,
  output: Readable,
): Promise<void> {
  socket.on("error", () => undefined);
  const offered = readSubprotocols(request);
  const isUnderstood = offered.length === 0 || offered.includes(BINARY_PROTOCOL);
  const unknown = `the output is sent as ${BINARY_PROTOCOL}, and in no other protocol`;
  const refusal = refuseHandshake(request) ?? (isUnderstood ? undefined : formatAnswer(400, {}, unknown));
  if (refusal !== undefined) {
    output.destroy();
    await endWith(socket, refusal);
    return;
  }
  const webSocket = acceptWebSocket({
    ...{ clock, socket, key: readHandshakeKey(request), idleTimeoutMs: IDLE_TIMEOUT_MS },
    protocol: offered.length === 0 ? undefined : BINARY_PROTOCOL,
    handler: { message: () => undefined, end: () => output.destroy() },
  });
  // Clients wait for a message before they believe that they are connected.
  webSocket.send([Buffer.alloc(0)], () => undefined);
  const stop = () => output.destroy();
  signal.addEventListener("abort", stop, { once: true });
  // What breaks, or is broken off, has not come to its end.
  await copyAll(output, webSocket).catch(() => undefined);
  signal.removeEventListener("abort", stop);
  webSocket.close(output.readableEnded ? CLOSE_CODES.normal : CLOSE_CODES.goingAway, END_GRACE_MS);
  await webSocket.closed;
}

async function copyAll(output: Readable, webSocket: ServedWebSocket): Promise<void> {
  for await (const chunk of output) {
    await new Promise<void>((resolve, reject) => {
      webSocket.send([Buffer.from(chunk)], (error) => (error ? reject(error) : resolve()));
    });
  }
}
