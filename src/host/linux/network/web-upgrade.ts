import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { messageOf } from "../../../base/errors.ts";
import type { TakenOver, WebAnswer, WebBody, WebHandler } from "../../web-server.ts";
import type { PieceBuffers } from "./piece-buffers.ts";
import type { SendQueue } from "./send-queue.ts";
import { type SentBody, sendAnswer } from "./web-answer.ts";
import type { WebConnections } from "./web-connections.ts";
import { describeRequest, hasBody, Lifetime } from "./web-request.ts";

interface UpgradeMeans {
  readonly handler: WebHandler;
  readonly connections: WebConnections;
  readonly sendQueue: SendQueue;
  readonly pieceBuffers: PieceBuffers;
}

/** The connection as Node.js leaves it, and what of it was read too far. */
interface UpgradeSocket {
  readonly socket: Socket;
  readonly head: Buffer;
}

/**
 * Serves a request of HTTP/1.1 that asks for another protocol, on a connection that Node.js no longer looks after. Whoever
 * does not take it over answers as to any request, and the connection ends with the answer. Never rejects.
 */
export async function serveUpgrade(
  { handler, connections, ...means }: UpgradeMeans,
  raw: IncomingMessage,
  { socket, head }: UpgradeSocket,
): Promise<void> {
  const lifetime = new Lifetime(() => socket.destroy());
  connections.begin(raw, lifetime);
  socket.on("error", () => undefined);
  socket.setTimeout(0);
  const end = () => lifetime.end();
  socket.once("close", end);
  // Nobody reads yet: a client that leaves before it is answered is noticed by this.
  socket.once("end", end);
  const response = new ServerResponse(raw);
  response.shouldKeepAlive = false;
  const request = hasBody(raw) ? undefined : describeRequest(raw, lifetime);
  const answer = request === undefined ? BAD_REQUEST : await handler(request).catch(failure);
  if (lifetime.isOver) {
    abandon(answer, lifetime);
    socket.destroy();
    return;
  }
  socket.off("end", end);
  if (isTakenOver(answer.body)) {
    if (head.length > 0) socket.unshift(head);
    // Whoever took it told its client what went wrong, or there was nobody left to be told.
    await answer.body.takeOver(socket).catch(() => socket.destroy());
    socket.destroySoon();
    return;
  }
  if (!hasSentBody(answer)) return;
  response.assignSocket(socket);
  response.once("finish", () => socket.destroySoon());
  response.once("close", () => socket.destroySoon());
  // What else the client sends is of no use to anybody, but read: a reset could overtake the answer.
  socket.resume();
  sendAnswer(answer, { method: raw.method ?? "", response, lifetime, ...means });
}

const PLAIN = { "content-type": "text/plain; charset=utf-8" };
/** Where a body would end and the other protocol begin is nothing that HTTP says clearly. */
const BAD_REQUEST: WebAnswer = { status: 400, headers: PLAIN, body: "400 bad request\n" };

const failure = (error: unknown): WebAnswer => ({ status: 500, headers: PLAIN, body: `${messageOf(error)}\n` });

/** False for an answer that takes the connection over. */
export function hasSentBody(answer: WebAnswer): answer is WebAnswer & { body: SentBody } {
  return !isTakenOver(answer.body);
}

const isTakenOver = (body: WebBody): body is TakenOver => typeof body === "object" && "takeOver" in body;

/** For an answer that cannot be given: lets go of what it holds, and of a client that waits for it. */
export function abandon({ body }: WebAnswer, lifetime: Lifetime): void {
  if (typeof body === "object" && "source" in body) body.source.on("error", () => undefined).destroy();
  if (!lifetime.isOver) lifetime.giveUp();
}
