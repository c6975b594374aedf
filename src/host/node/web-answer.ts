import type { Http2ServerResponse } from "node:http2";
import type { WebAnswer, WebWriter } from "../web-server.ts";
import { PIECE_BYTES, type PieceBuffers } from "./piece-buffers.ts";
import type { Sender, SendQueue } from "./send-queue.ts";
import type { Lifetime } from "./web-request.ts";

interface Exchange {
  method: string;
  response: Http2ServerResponse;
  lifetime: Lifetime;
  sendQueue: SendQueue;
  pieceBuffers: PieceBuffers;
}

/** Answers that have no body, and so say nothing of its length. */
const BODILESS = new Set([204, 304]);

/** Sends an answer, a stream included. */
export function sendAnswer(answer: WebAnswer, exchange: Exchange): void {
  const { body, status } = answer;
  const { response, method } = exchange;
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, mutable(value)] as const);
  if (typeof body !== "string" && "stream" in body) {
    response.writeHead(status, Object.fromEntries(headers));
    if (method === "HEAD") {
      // Nobody would read it, and a stream that nobody reads has no end.
      response.end();
      return;
    }
    // HTTP/1.1 would hold the status back until the first event, and clients wait for it.
    if ("flushHeaders" in response && typeof response.flushHeaders === "function") response.flushHeaders();
    body.stream(createWriter(exchange, { isShared: true }));
    return;
  }
  const length = BODILESS.has(status) ? {} : { "content-length": String(lengthOf(body)) };
  response.writeHead(status, { ...Object.fromEntries(headers), ...length });
  if (method === "HEAD") response.end();
  else if (typeof body === "string" || Buffer.isBuffer(body)) response.end(body);
  else {
    const writer = createWriter(exchange, { isShared: false });
    for (const chunk of body) writer.write(chunk);
    writer.end();
  }
}

const mutable = (value: string | readonly string[]) => (typeof value === "string" ? value : [...value]);

function lengthOf(body: string | Buffer | readonly Buffer[]): number {
  if (typeof body === "string") return Buffer.byteLength(body);
  return Buffer.isBuffer(body) ? body.length : body.reduce((sum, { length }) => sum + length, 0);
}

interface Piece {
  readonly parts: readonly Buffer[];
  readonly size: number;
}

/**
 * Sends what is written in few large pieces, and no more than the client takes: the rest waits here, as the chunks that
 * they are, which are often the stored objects themselves.
 *
 *   idle ──write──▶ queued ──turn──▶ idle, queued (there is more) or blocked (the client is slow) ──drain──▶ queued
 */
function createWriter(
  { response, lifetime, sendQueue, pieceBuffers }: Exchange,
  /** Others are likely to send the same at the same time. */
  { isShared }: { isShared: boolean },
): WebWriter {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let state: "idle" | "queued" | "blocked" | "ended" = "idle";
  let isEnding = false;

  const queue = () => {
    state = "queued";
    sendQueue.add(sender);
  };

  const send = () => {
    if (lifetime.isOver) {
      [chunks, bytes, state] = [[], 0, "ended"];
      return;
    }
    state = "idle";
    const isTaken = writePiece(takePiece());
    if (chunks.length === 0 && isEnding) {
      state = "ended";
      response.end();
    } else if (!isTaken) {
      state = "blocked";
      response.once("drain", () => {
        state = "idle";
        if (chunks.length > 0 || isEnding) queue();
      });
    } else if (chunks.length > 0) queue();
  };

  const sender: Sender = { send };

  const takePiece = (): Piece => {
    let size = 0;
    let count = 0;
    for (const { length } of chunks) {
      if (count > 0 && size + length > PIECE_BYTES) break;
      size += length;
      count++;
    }
    bytes -= size;
    const parts = count === chunks.length ? chunks : chunks.slice(0, count);
    chunks = count === chunks.length ? [] : chunks.slice(count);
    return { parts, size };
  };

  const writePiece = ({ parts, size }: Piece): boolean => {
    if (size === 0) return true;
    if (isShared || parts.length === 1) return response.write(sendQueue.join(parts));
    const whole = pieceBuffers.fill(parts);
    return response.write(whole, (error) => {
      if (!error) pieceBuffers.release(whole);
    });
  };

  return {
    get signal() {
      return lifetime.signal;
    },
    write(chunk) {
      if (lifetime.isOver || isEnding) return;
      const buffer = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      chunks.push(buffer);
      bytes += buffer.length;
      if (state === "idle") queue();
    },
    get bufferedBytes() {
      return bytes + (response.writableLength ?? 0);
    },
    end() {
      if (lifetime.isOver || isEnding) return;
      isEnding = true;
      if (state === "idle") queue();
    },
  };
}
