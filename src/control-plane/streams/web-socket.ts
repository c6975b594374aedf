import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import type { Clock, Timer } from "../../base/clock.ts";
import { formatAnswer } from "./http-answer.ts";
import type { UpgradeRequest } from "./streams-call.ts";
import {
  CLOSE_CODES,
  createWebSocketReader,
  encodeFrameStart,
  type MessagePiece,
  OPCODES,
  WebSocketError,
} from "./web-socket-frames.ts";

/** A client's WebSocket, accepted. */
export interface ServedWebSocket {
  /** One binary message of these pieces; `done` when there is room for more, with an error when nobody is left to send to. */
  send(pieces: readonly Buffer[], done: (error: Error | null) => void): void;
  /** No more is received, but for what is already here, until `resume`; meanwhile the client is shown that we live. */
  pause(): void;
  resume(): void;
  /** Sends what is waiting, then says so; the client may take `graceMs` for both. Idempotent. */
  close(code: number, graceMs?: number): void;
  /** Resolves when the socket has closed and nothing is left. */
  readonly closed: Promise<void>;
}

/** Told of what the client sends. */
export interface WebSocketHandler {
  /** A part of a message. Messages without bytes come too. */
  piece(bytes: Buffer, piece: MessagePiece): void;
  /** It will send no more; called once. */
  end(): void;
}

interface WebSocketParts {
  readonly clock: Pick<Clock, "setTimer" | "monotonic">;
  readonly socket: Duplex;
  readonly handler: WebSocketHandler;
  /** Ends the connection when no message came or went for so long. */
  readonly idleTimeoutMs?: number;
}

const CLOSE_GRACE_MS = 1_000;
/** kubectl hangs up when it has not heard a pong for 61 s. */
const SIGN_OF_LIFE_MS = 15_000;

/** RFC 6455, section 1.3. */
const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** Sixteen bytes in base64. */
const KEY_PATTERN = /^[+/0-9A-Za-z]{22}==$/;

/** Why the request is none for a WebSocket, as it is to be answered; undefined where it is one. */
export function refuseHandshake(request: UpgradeRequest): string | undefined {
  if (request.method !== "GET") return formatAnswer(405, { allow: "GET" }, "bad method");
  if (request.header("sec-websocket-version")[0] !== "13") {
    return formatAnswer(400, { "sec-websocket-version": "13" }, "missing or bad WebSocket Version");
  }
  if (!KEY_PATTERN.test(request.header("sec-websocket-key")[0] ?? "")) {
    return formatAnswer(400, {}, "mismatch challenge/response");
  }
  return undefined;
}

/** The answer to a request that `refuseHandshake` has nothing against. */
export function formatAcceptance(request: UpgradeRequest, protocol: string | undefined): string {
  const key = request.header("sec-websocket-key")[0] ?? "";
  return [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${createHash("sha1").update(`${key}${ACCEPT_GUID}`).digest("base64")}`,
    ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    "",
    "",
  ].join("\r\n");
}

/**
 * The connection behind the answer. Owns the socket from here on; nothing that a client sends makes it throw.
 *
 *   open ──close()──▶ closing ──answered, hung up, or grace over──▶ closed
 *     └──close, end, error, or rubbish from the client──▶ closing
 */
export function createWebSocket({ clock, socket, handler, idleTimeoutMs }: WebSocketParts): ServedWebSocket {
  let state: "open" | "closing" = "open";
  let hasEnded = false;
  let isPaused = false;
  let lastActivity = clock.monotonic();
  const timers = new Map<"idle" | "life" | "grace", Timer>();
  const waiting: Array<(error: Error | null) => void> = [];

  const setTimer = (name: "idle" | "life" | "grace", delayMs: number, fire: () => void) => {
    timers.get(name)?.cancel();
    timers.set(name, clock.setTimer(delayMs, fire));
  };

  const sendFrame = (opcode: number, pieces: readonly Buffer[]) => {
    if (!socket.writable) return;
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    socket.cork();
    socket.write(encodeFrameStart(opcode, length));
    for (const piece of pieces) if (piece.length > 0) socket.write(piece);
    socket.uncork();
  };

  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    handler.end();
  };

  const close = (code: number | undefined, graceMs = CLOSE_GRACE_MS) => {
    if (state === "closing") return;
    state = "closing";
    const payload = Buffer.alloc(code === undefined ? 0 : 2);
    if (code !== undefined) payload.writeUInt16BE(code);
    sendFrame(OPCODES.close, [payload]);
    socket.end();
    // Also what nobody wants any more has to be read, because a socket does not notice its end otherwise.
    socket.resume();
    setTimer("grace", graceMs, () => socket.destroy());
    end();
  };

  const reader = createWebSocketReader({
    piece(bytes, piece) {
      if (state !== "open") return;
      lastActivity = clock.monotonic();
      handler.piece(bytes, piece);
    },
    ping: (payload) => {
      if (state === "open") sendFrame(OPCODES.pong, [payload]);
    },
    close: (code) => close(code),
  });

  const receive = (chunk: Buffer) => {
    if (state !== "open") return;
    try {
      reader.push(chunk);
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      close(error.code);
    }
  };

  const wakeAll = (error: Error | null) => {
    for (const done of waiting.splice(0)) done(error);
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
      if (!isPaused || state !== "open") return;
      sendFrame(OPCODES.pong, []);
      showLife();
    });
  };

  const listen = async () => {
    socket.on("data", receive);
    socket.on("drain", () => wakeAll(null));
    socket.on("end", () => close(undefined));
    socket.on("error", () => undefined);
    if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    state = "closing";
    wakeAll(new Error("the client has gone"));
    for (const timer of timers.values()) timer.cancel();
    end();
  };

  if (idleTimeoutMs !== undefined) watchIdle(idleTimeoutMs, idleTimeoutMs);
  return {
    send(pieces, done) {
      if (state !== "open") {
        done(new Error("the client has gone"));
        return;
      }
      lastActivity = clock.monotonic();
      sendFrame(OPCODES.binary, pieces);
      if (socket.writableNeedDrain) waiting.push(done);
      else done(null);
    },
    pause() {
      if (isPaused || state !== "open") return;
      isPaused = true;
      socket.pause();
      showLife();
    },
    resume() {
      if (!isPaused) return;
      isPaused = false;
      timers.get("life")?.cancel();
      socket.resume();
    },
    close,
    closed: listen(),
  };
}
