import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Timer } from "../../../base/clock.ts";
import {
  type AcceptWebSocket,
  CLOSE_CODES,
  MAX_WEB_SOCKET_MESSAGE_BYTES,
  type WebSocketParts,
} from "../../web-socket.ts";
import { createReadTurns, type PacedReader } from "./read-turns.ts";

const CLOSE_GRACE_MS = 1_000;
/** kubectl hangs up when it has not heard a pong for 61 s. */
const SIGN_OF_LIFE_MS = 15_000;
/** The limit for a client that has sent a close and does not hang up. Only the package knows of such a client. */
const CLOSE_TIMEOUT_MS = 10_000;

/** The package answers each ping. It cuts off a client that sends more than 60 and reads none of the answers. */
const options = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_WEB_SOCKET_MESSAGE_BYTES,
  maxPendingAutoPongs: 60,
  closeTimeout: CLOSE_TIMEOUT_MS,
};

/** All WebSockets of the process share the time in which their frames are read: even frames without a byte cost some. */
const readTurns = createReadTurns({ now: () => performance.now(), defer: setImmediate });

/**
 * The real `AcceptWebSocket`, over the package `ws`.
 *
 *   open ──close()──▶ closing ──answered, hung up, or grace over──▶ closed
 *     └──close, end, error, or rubbish from the client──▶ closing
 */
export const acceptWebSocket: AcceptWebSocket = ({ clock, socket, key, protocol, handler, idleTimeoutMs }) => {
  const webSocket = shakeHands(socket, key, protocol);
  let isOpen = true;
  let isPaused = false;
  let lastActivity = clock.monotonic();
  const timers = new Map<"idle" | "life" | "grace", Timer>();
  const setTimer = (name: "idle" | "life" | "grace", delayMs: number, fire: () => void) => {
    timers.get(name)?.cancel();
    timers.set(name, clock.setTimer(delayMs, fire));
  };

  const finish = (graceMs = CLOSE_GRACE_MS) => {
    if (!isOpen) return;
    isOpen = false;
    socket.end();
    // Bytes that are of no use any more are read all the same, because a socket does not notice its end otherwise.
    webSocket?.resume();
    setTimer("grace", graceMs, () => socket.destroy());
    handler.end();
  };
  const close = (code: number, graceMs?: number) => {
    if (!isOpen) return;
    webSocket?.close(code);
    finish(graceMs);
  };
  const watchIdle = (timeoutMs: number, waitMs: number) => {
    setTimer("idle", waitMs, () => {
      const quietMs = clock.monotonic() - lastActivity;
      if (quietMs < timeoutMs) watchIdle(timeoutMs, timeoutMs - quietMs);
      else close(CLOSE_CODES.normal);
    });
  };
  const showLife = () => {
    setTimer("life", SIGN_OF_LIFE_MS, () => {
      if (!isPaused || !isOpen) return;
      webSocket?.pong();
      showLife();
    });
  };

  webSocket?.on("message", (bytes: Buffer, isBinary) => {
    if (!isOpen) return;
    lastActivity = clock.monotonic();
    handler.message(bytes, !isBinary);
  });
  webSocket?.on("error", () => finish());
  if (webSocket !== undefined) {
    const reader: PacedReader = {
      pause: () => webSocket.pause(),
      resume: () => {
        if (!isPaused || !isOpen) webSocket.resume();
      },
    };
    // The package has its own listener before this one, so the frames of these bytes were handled.
    socket.on("data", () => readTurns.haveRead(reader));
  }
  const closed = (async () => {
    socket.on("error", () => undefined);
    // The client sends no more. If it has sent a close, the package answers it and hangs up.
    socket.once("end", () => finish());
    if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    finish();
    for (const timer of timers.values()) timer.cancel();
  })();

  if (idleTimeoutMs !== undefined) watchIdle(idleTimeoutMs, idleTimeoutMs);
  return {
    send(pieces, done) {
      lastActivity = clock.monotonic();
      const [only] = pieces;
      const bytes = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
      if (isOpen && webSocket !== undefined) webSocket.send(bytes, (error) => done(error ?? null));
      else done(new Error("the client has gone"));
    },
    pause() {
      if (isPaused || !isOpen) return;
      isPaused = true;
      webSocket?.pause();
      showLife();
    },
    resume() {
      if (!isPaused) return;
      isPaused = false;
      timers.get("life")?.cancel();
      webSocket?.resume();
    },
    close,
    closed,
  };
};

/**
 * Answers the request; undefined for a client that has left already. The protocol is not given to the package, which
 * refuses names with a slash (`SPDY/3.1+portforward.k8s.io`). It is written into the answer here.
 */
function shakeHands(
  socket: Duplex,
  key: WebSocketParts["key"],
  protocol: WebSocketParts["protocol"],
): WebSocket | undefined {
  const server = new WebSocketServer(options);
  server.on("headers", (headers) => {
    if (protocol !== undefined) headers.push(`Sec-WebSocket-Protocol: ${protocol}`);
  });
  const request = new IncomingMessage(new Socket());
  request.method = "GET";
  request.headers = { upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": key };
  let accepted: WebSocket | undefined;
  server.handleUpgrade(request, socket, Buffer.alloc(0), (webSocket) => {
    accepted = webSocket;
  });
  return accepted;
}
