import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { untilAborted } from "../../../base/abort.ts";
import { runInBackground } from "../../../base/tasks.ts";
import type { AnswerBody, AnswerHeaders, PacedWriter, ServedAnswer, TakenOver } from "../../http-server.ts";
import { type AnswerResponse, sendHead } from "./answer-head.ts";
import { QueuedWriter } from "./answer-writer.ts";
import { PIECE_BYTES, type PieceBuffers } from "./piece-buffers.ts";
import type { SendQueue } from "./send-queue.ts";
import type { Lifetime } from "./served-request.ts";

/** A request that waits for its answer. */
interface WaitingExchange {
  readonly method: string;
  readonly isHttp2: boolean;
  readonly response: AnswerResponse;
  readonly lifetime: Lifetime;
  readonly sendQueue: SendQueue;
  readonly pieceBuffers: PieceBuffers;
  readonly defaultHeaders: AnswerHeaders;
  /** The connection ends with this answer in any case. */
  readonly isLast: boolean;
  /** Ends a connection of HTTP/2 as soon as its streams are over. */
  endConnection(): void;
}

/** The part of an answer that follows its HTTP head. */
type SentBody = Exclude<AnswerBody, TakenOver>;
type OpenBody = Exclude<SentBody, string | Buffer | readonly Buffer[]>;

/** The statuses of answers that have no body, and so do not state its length. */
const BODILESS = new Set([204, 304]);

/** Sends an answer, a stream included. No answer that a handler gives makes this throw. */
export function sendAnswer(answer: ServedAnswer & { readonly body: SentBody }, exchange: WaitingExchange): void {
  const { body, status } = answer;
  const headers = { ...exchange.defaultHeaders, ...answer.headers, ...lastOf(answer, exchange) };
  if (isOpen(body)) {
    if (!startAnswer(exchange, status, headers)) letGo(body);
    else sendOpenBody(body, exchange);
    return;
  }
  const length = BODILESS.has(status) ? {} : { "content-length": String(lengthOf(body)) };
  if (startAnswer(exchange, status, { ...headers, ...length })) sendWholeBody(body, exchange);
}

function lastOf({ closes = false }: ServedAnswer, { isHttp2, isLast, endConnection }: WaitingExchange): AnswerHeaders {
  if (!closes && !isLast) return {};
  if (isHttp2) endConnection();
  return isHttp2 ? {} : { connection: "close" };
}

/** Sends the head. Answers with 502 and returns false where HTTP cannot carry the head. */
function startAnswer(
  { response, isHttp2, lifetime }: WaitingExchange,
  status: number,
  headers: AnswerHeaders,
): boolean {
  if (sendHead(response, { status, headers, isHttp2 })) return true;
  const text = "502 the answer is not valid HTTP\n";
  const plain = { "content-type": "text/plain; charset=utf-8", "content-length": String(text.length) };
  if (sendHead(response, { status: 502, headers: plain, isHttp2 })) {
    lifetime.waitForClient();
    response.end(text);
  } else lifetime.giveUp();
  return false;
}

function sendWholeBody(
  body: string | Buffer | readonly Buffer[],
  exchange: Pick<WaitingExchange, "method" | "response" | "lifetime" | "sendQueue" | "pieceBuffers">,
): void {
  const { response, lifetime, method } = exchange;
  lifetime.waitForClient();
  if (method === "HEAD") {
    response.end();
    return;
  }
  // Node.js would write a head before a string as UTF-8, but it must be Latin-1.
  const whole = typeof body === "string" ? encodeFor(lifetime, body) : body;
  if (Buffer.isBuffer(whole) && whole.length <= PIECE_BYTES) {
    response.end(whole);
    return;
  }
  const writer = new QueuedWriter(exchange, { isShared: false, isChunked: false });
  for (const chunk of Buffer.isBuffer(whole) ? cutToPieces(whole) : whole) writer.write(chunk);
  writer.end();
}

/** Each client has bytes of its own of a text, until it has read them. Buffers are what several of them share. */
function encodeFor(lifetime: Lifetime, text: string): Buffer {
  const bytes = Buffer.from(text);
  lifetime.hold(bytes.length);
  return bytes;
}

/**
 * Cuts a long body. All that is written at once is encrypted at once, so that each client that does not read would make
 * a copy of a document that all of them share.
 */
function* cutToPieces(body: Buffer): Iterable<Buffer> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

function sendOpenBody(body: OpenBody, exchange: WaitingExchange): void {
  const { response, method, isHttp2 } = exchange;
  if (method === "HEAD") {
    // A stream that is not read never ends.
    letGo(body);
    response.end();
    return;
  }
  // HTTP/1.1 would hold the status back until the first event, and clients wait for it. The buffer makes Node.js write
  // the head as Latin-1, which `flushHeaders` does not.
  if (!isHttp2) response.write(Buffer.alloc(0));
  if ("stream" in body) {
    body.stream(new QueuedWriter(exchange, { isShared: true, isChunked: takeChunking(response) }));
  } else if ("produce" in body) {
    runInBackground(
      async () => await sendProduced(body, exchange),
      () => exchange.lifetime.giveUp(),
    );
  }
  // Whichever of the two breaks takes the other along, so no error has to be handled here.
  else pipeline(body.source, response, () => undefined);
}

async function sendProduced(
  { produce }: { produce(writer: PacedWriter): Promise<void> },
  { response, lifetime }: Pick<WaitingExchange, "response" | "lifetime">,
): Promise<void> {
  const { signal } = lifetime;
  try {
    await produce({ signal, write: async (chunk) => await writePaced(response, chunk, signal) });
    lifetime.waitForClient();
    response.end();
  } catch {
    if ("socket" in response && isSocket(response.socket)) endSoon(response.socket);
    else lifetime.giveUp();
  }
}

async function writePaced(response: AnswerResponse, chunk: Buffer, signal: AbortSignal): Promise<void> {
  if (!signal.aborted && response.write(chunk)) return;
  let settle = () => {};
  const drained = new Promise<void>((resolve) => {
    settle = resolve;
  });
  response.once("drain", settle);
  try {
    await untilAborted(drained, signal);
  } finally {
    response.off("drain", settle);
  }
}

/**
 * Milliseconds without a byte in which a client may take the bytes on their way, before its connection is destroyed.
 */
const FLUSH_TIMEOUT_MS = 10_000;

/** The client gets the bytes that were written, and then the end of its connection. */
export function endSoon(socket: Socket): void {
  socket.setTimeout(FLUSH_TIMEOUT_MS, () => socket.destroy());
  socket.destroySoon();
}

const isSocket = (value: unknown): value is Socket =>
  typeof value === "object" && value !== null && "destroySoon" in value;

const isOpen = (body: SentBody): body is OpenBody =>
  typeof body !== "string" && ("stream" in body || "produce" in body || "source" in body);

function letGo(body: OpenBody): void {
  if ("source" in body) body.source.on("error", () => undefined).destroy();
}

function lengthOf(body: string | Buffer | readonly Buffer[]): number {
  if (typeof body === "string") return Buffer.byteLength(body);
  return Buffer.isBuffer(body) ? body.length : body.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Takes the framing over from Node.js, once the headers have announced it. Returns false where there is none: HTTP/2
 * and 1.0.
 */
function takeChunking(response: AnswerResponse): boolean {
  if (!("chunkedEncoding" in response) || response.chunkedEncoding !== true) return false;
  response.chunkedEncoding = false;
  return true;
}
