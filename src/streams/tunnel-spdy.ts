import { Duplex } from "node:stream";
import { childController, isAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { joinStreams, type UpgradeResult } from "../host/upgrade-call.ts";
import { type AcceptWebSocket, CLOSE_CODES, type ServedWebSocket, type WebSocketHandler } from "../host/web-socket.ts";
import { formatAnswer, formatHead } from "./http-answer.ts";
import { isSpdyAgreed, readChosenProtocol, spdyRequestHeaders } from "./node-session.ts";
import type { StreamsCall, UpgradeRequest } from "./streams-call.ts";
import { readHandshakeKey, refuseHandshake } from "./web-socket-handshake.ts";
import { readTunnelProtocols, TUNNEL_PREFIX } from "./websocket-request.ts";

interface TunnelDeps {
  readonly acceptWebSocket: AcceptWebSocket;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the connection when no byte came or went for this many milliseconds. Default: 0, never. */
  readonly idleTimeoutMs?: number;
  /** Counts requests by the HTTP status of their answer. */
  count(code: number): void;
}

/** Milliseconds that the client may take for an answer that is no tunnel. */
const ANSWER_GRACE_MS = 10_000;
/** These headers are about the node's connection, not about the client's. */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade"]);

/** The bytes of a node's SPDY connection in the binary messages of a client's WebSocket. Resolves when both have closed. */
export async function tunnelSpdy(
  { acceptWebSocket, clock, log, count, idleTimeoutMs = 0 }: TunnelDeps,
  { request, socket, connect, signal }: StreamsCall,
): Promise<void> {
  const { controller, release } = childController(signal);
  socket.on("error", () => undefined);
  socket.once("close", () => controller.abort());
  const answerWith = async (status: number, answer: () => void) => {
    count(status);
    answer();
    await untilClosed(socket, clock);
  };
  try {
    const refusal = refuse(request);
    if (refusal !== undefined) {
      await answerWith(400, () => socket.end(refusal));
      return;
    }
    const result = await callNode(connect(spdyRequestHeaders(readTunnelProtocols(request)), controller.signal));
    if (result.kind === "failed") {
      if (controller.signal.aborted) return;
      log.debug("a port-forward failed", { error: result.message });
      await answerWith(500, () => socket.end(formatAnswer(500, {}, `error dialing backend: ${result.message}`)));
    } else if (result.kind === "answered" && result.status < 400) {
      // A client would follow a redirect with its credentials.
      result.body.destroy();
      const message = `invalid upgrade response: status code ${result.status}`;
      await answerWith(500, () => socket.end(formatAnswer(500, {}, message)));
    } else if (result.kind === "answered") {
      await answerWith(result.status, () => forwardAnswer(result, socket));
    } else if (!isSpdyAgreed(result.headers)) {
      result.socket.destroy();
      const message = "unable to upgrade: missing upgrade headers in response";
      await answerWith(500, () => socket.end(formatAnswer(500, {}, message)));
    } else {
      count(101);
      const protocol = chooseSubprotocol(request, result.headers);
      const key = readHandshakeKey(request);
      const end = createTunnelEnd((handler) => acceptWebSocket({ clock, socket, handler, key, protocol }));
      await joinStreams(end, result.socket, idleTimeoutMs > 0 ? { idleMs: idleTimeoutMs } : {}, signal);
    }
  } finally {
    release();
    socket.destroy();
  }
}

function refuse(request: UpgradeRequest): string | undefined {
  if (readTunnelProtocols(request).length > 0) return refuseHandshake(request);
  return formatAnswer(400, {}, "unable to upgrade: no tunneling spdy protocols provided");
}

type CallOutcome = UpgradeResult | { readonly kind: "failed"; readonly message: string };

async function callNode(call: Promise<UpgradeResult>): Promise<CallOutcome> {
  try {
    return await call;
  } catch (error) {
    return { kind: "failed", message: isAbort(error) ? "aborted" : messageOf(error) };
  }
}

/** The subprotocol that the node chose, if the client offers it. Undefined also where the node names none. */
function chooseSubprotocol(request: UpgradeRequest, headers: UpgradeResult["headers"]): string | undefined {
  const chosen = readChosenProtocol(headers);
  return readTunnelProtocols(request).includes(chosen) ? `${TUNNEL_PREFIX}${chosen}` : undefined;
}

function forwardAnswer(answer: Extract<UpgradeResult, { kind: "answered" }>, socket: Duplex): void {
  const kept = Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()));
  socket.write(formatHead(answer.status, Object.fromEntries(kept)));
  answer.body.on("error", () => socket.destroy());
  answer.body.pipe(socket);
}

async function untilClosed(socket: Duplex, clock: Clock): Promise<void> {
  socket.resume();
  if (socket.closed) return;
  const timer = clock.setTimer(ANSWER_GRACE_MS, () => socket.destroy());
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  timer.cancel();
}

/** The client's WebSocket as a stream of the bytes in its messages. */
function createTunnelEnd(accept: (handler: WebSocketHandler) => ServedWebSocket): Duplex {
  const end: Duplex = new Duplex({
    read: () => webSocket.resume(),
    write: (chunk: Buffer, _encoding, callback) => webSocket.send([chunk], callback),
    final(callback) {
      webSocket.close(CLOSE_CODES.normal);
      callback();
    },
    destroy(error, callback) {
      webSocket.close(CLOSE_CODES.normal);
      const finish = () => callback(error);
      webSocket.closed.then(finish, finish);
    },
  });
  const webSocket = accept({
    message(bytes, isText) {
      if (isText) webSocket.close(CLOSE_CODES.unsupportedData);
      else if (bytes.length > 0 && !end.push(bytes)) webSocket.pause();
    },
    end: () => end.push(null),
  });
  return end;
}
