import { type IncomingMessage, ServerResponse } from "node:http";
import { constants } from "node:http2";
import type { Socket } from "node:net";
import { messageOf } from "../../../base/errors.ts";
import type {
  AnswerBody,
  HttpHandler,
  HttpLimits,
  HttpServerOptions,
  ServedAnswer,
  TakenOver,
} from "../../http-server.ts";
import type { AnswerResponse } from "./answer-head.ts";
import type { PieceBuffers } from "./piece-buffers.ts";
import { joinRequestLine } from "./request-line.ts";
import { endSoon, sendAnswer } from "./send-answer.ts";
import type { SendQueue } from "./send-queue.ts";
import { describeRequest, discardBody, hasBody, Lifetime, type RawRequest } from "./served-request.ts";
import type { TrackedConnections } from "./track-connections.ts";

interface ServerMeans {
  readonly handler: HttpHandler;
  readonly options: Pick<HttpServerOptions, "decodesPath" | "readsBodies" | "defaultHeaders">;
  readonly limits: Pick<HttpLimits, "maxHeaderBytes">;
  readonly connections: TrackedConnections;
  readonly sendQueue: SendQueue;
  readonly pieceBuffers: PieceBuffers;
  /** The connections that handlers have taken over and still use. */
  readonly takenOver: Set<Promise<void>>;
}

export type Exchange = [raw: RawRequest, response: AnswerResponse];

/** Serves one request. It never rejects: in the last resort the client is cut off. */
export async function serveRequest(means: ServerMeans, ...[raw, response]: Exchange): Promise<void> {
  const lifetime = new Lifetime(() => cutOff(raw));
  const isWanted = means.connections.begin(raw, lifetime);
  lifetime.hold(heldByHead(raw));
  const end = () => lifetime.end();
  response.once("close", end);
  response.on("error", end);
  raw.on("error", end);
  if (!isWanted) return end();
  try {
    const turn = isHttp2(raw) ? undefined : joinRequestLine(raw.socket, response);
    if (turn !== undefined) await turn;
    if (turn === "refused" || raw.socket?.destroyed) {
      lifetime.giveUp();
      end();
      return;
    }
    const answer = await answerOf(means, raw, lifetime);
    const { body, onOver } = answer;
    if (onOver && !lifetime.isOver) response.once("close", onOver);
    else onOver?.();
    if (lifetime.isOver || isTakenOver(body)) abandon(answer, lifetime);
    else sendAnswer({ ...answer, body }, describeExchange(means, { raw, response, lifetime }));
    if (!isHttp2(raw) && hasBody(raw)) discardBody(raw, lifetime);
  } catch {
    lifetime.giveUp();
  }
}

/** The connection as Node.js leaves it, and the bytes of it that were read too far. */
interface UpgradeSocket {
  readonly socket: Socket;
  readonly head: Buffer;
}

/**
 * Serves a request of HTTP/1.1 that asks for another protocol, on a connection that Node.js no longer looks after. An
 * answer that does not take the connection over is sent as to any request, and is the last one of the connection. It
 * never rejects.
 */
export async function serveUpgrade(
  means: ServerMeans,
  raw: IncomingMessage,
  { socket, head }: UpgradeSocket,
): Promise<void> {
  const lifetime = new Lifetime(() => socket.destroy());
  means.connections.begin(raw, lifetime);
  lifetime.hold(heldByHead(raw));
  socket.on("error", () => undefined);
  socket.setTimeout(0);
  // Each direction of the connection stays open until its own end.
  socket.allowHalfOpen = true;
  const end = () => lifetime.end();
  socket.once("close", end);
  // Nothing reads yet, so this event tells of a client that leaves before it is answered.
  socket.once("end", end);
  try {
    const answer = await answerOf(means, raw, lifetime);
    if (answer.onOver && !lifetime.isOver) socket.once("close", answer.onOver);
    else answer.onOver?.();
    if (lifetime.isOver) {
      abandon(answer, lifetime);
      socket.destroy();
      return;
    }
    socket.off("end", end);
    const { body } = answer;
    if (isTakenOver(body)) {
      if (head.length > 0) socket.unshift(head);
      await handOver(means, body, socket);
    } else {
      const response = carryAnswer(raw, socket);
      sendAnswer({ ...answer, body }, describeExchange(means, { raw, response, lifetime }));
    }
  } catch {
    socket.destroy();
  }
}

/** Makes the response for an answer in HTTP/1.1, after which the connection ends. */
function carryAnswer(raw: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(raw);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // A handler may write once more after the client has gone.
  response.on("error", () => socket.destroy());
  response.once("finish", () => socket.destroySoon());
  response.once("close", () => socket.destroySoon());
  // Further bytes of the client are read and thrown away: a reset could overtake the answer.
  socket.resume();
  return response;
}

async function handOver({ takenOver }: ServerMeans, body: TakenOver, socket: Socket): Promise<void> {
  // The new owner has told the client what went wrong, or there was no client left to be told.
  const over = body.takeOver(socket).catch(() => {
    socket.destroy();
  });
  takenOver.add(over);
  await over;
  takenOver.delete(over);
  endSoon(socket);
}

interface RawExchange {
  readonly raw: RawRequest;
  readonly response: AnswerResponse;
  readonly lifetime: Lifetime;
}

function describeExchange(
  { options, connections, sendQueue, pieceBuffers }: ServerMeans,
  { raw, response, lifetime }: RawExchange,
) {
  const { readsBodies = true, defaultHeaders = {} } = options;
  return {
    ...{ method: raw.method ?? "", isHttp2: isHttp2(raw), response, lifetime, sendQueue, pieceBuffers, defaultHeaders },
    isLast: connections.isStale(raw) || (!readsBodies && hasBody(raw)),
    endConnection: () => raw.stream?.session?.close(),
  };
}

const PLAIN = { "content-type": "text/plain; charset=utf-8" };
const BAD_REQUEST: ServedAnswer = { status: 400, headers: PLAIN, body: "400 bad request\n" };
const TOO_LONG: ServedAnswer = { status: 431, headers: PLAIN, body: "431 request header fields too large\n" };

/** The handler's answer, or the answer to a request that no handler is to see. */
async function answerOf(means: ServerMeans, raw: RawRequest, lifetime: Lifetime): Promise<ServedAnswer> {
  // Nothing else bounds an HTTP/2 client that has not taken note of the limit yet, or never will.
  if (isHttp2(raw) && headerBytesOf(raw) > means.limits.maxHeaderBytes) return TOO_LONG;
  const request = describeRequest(raw, lifetime, means.options);
  // Two readers could disagree about where a body ends and another protocol begins.
  if (request === undefined || (request.isUpgrade && hasBody(raw))) return { ...BAD_REQUEST, closes: true };
  try {
    return await means.handler(request);
  } catch (error) {
    return { status: 500, headers: PLAIN, body: `${messageOf(error)}\n` };
  }
}

const isHttp2 = (raw: RawRequest) => raw.stream !== undefined;

/** What a request takes beside the bytes of its head, in the objects that stand for it. */
const OBJECT_BYTES = 4 * 1024;

const heldByHead = (raw: RawRequest) => OBJECT_BYTES + headerBytesOf(raw);

const headerBytesOf = ({ rawHeaders }: RawRequest) => rawHeaders.reduce((sum, { length }) => sum + length, 0);

const isTakenOver = (body: AnswerBody): body is TakenOver => typeof body === "object" && "takeOver" in body;

/** Releases what an answer that cannot be sent holds, and gives up on a client that waits for it. */
function abandon({ body }: ServedAnswer, lifetime: Lifetime): void {
  if (typeof body === "object" && "source" in body) body.source.on("error", () => undefined).destroy();
  if (!lifetime.isOver) lifetime.giveUp();
}

/** Ends the stream over HTTP/2, and over HTTP/1.1 the connection, which has no other request. */
export function cutOff(raw: RawRequest): void {
  if (raw.stream === undefined) raw.socket.destroy();
  else raw.stream.close(constants.NGHTTP2_CANCEL);
}
