import type { AnswerWriter } from "../../http-server.ts";
import type { AnswerResponse } from "./answer-head.ts";
import { PIECE_BYTES, type PieceBuffers } from "./piece-buffers.ts";
import type { Sender, SendQueue } from "./send-queue.ts";
import type { Lifetime } from "./served-request.ts";

interface WriterMeans {
  readonly response: AnswerResponse;
  readonly lifetime: Lifetime;
  readonly sendQueue: SendQueue;
  readonly pieceBuffers: PieceBuffers;
}

interface Piece {
  readonly parts: readonly Buffer[];
  readonly size: number;
}

interface WriterOptions {
  /** Other writers are likely to send the same bytes at the same time. */
  readonly isShared: boolean;
  /**
   * A body of unknown length goes in chunks over HTTP/1.1. The chunks are framed here, once for all writers that share
   * them.
   */
  readonly isChunked: boolean;
}

/**
 * Sends the written chunks in few large pieces, and no more than the client takes. The rest waits here as the original
 * chunks, which are often the stored objects themselves.
 *
 *   idle ──write──▶ queued ──turn──▶ idle, queued (there is more) or blocked (the client is slow) ──drain──▶ queued
 *
 * It is a class, because an event meets a thousand of them: V8 gives objects with getters of their own no common shape,
 * and each access to one of them is a search.
 */
export class QueuedWriter implements AnswerWriter, Sender {
  readonly #response: AnswerResponse;
  readonly #lifetime: Lifetime;
  readonly #sendQueue: SendQueue;
  readonly #pieceBuffers: PieceBuffers;
  readonly #isShared: boolean;
  readonly #isChunked: boolean;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #state: "idle" | "queued" | "blocked" | "ended" = "idle";
  #isEnding = false;
  /** The bytes that the response had not passed on when it asked to wait. */
  #blockedBytes = 0;

  constructor({ response, lifetime, sendQueue, pieceBuffers }: WriterMeans, { isShared, isChunked }: WriterOptions) {
    this.#response = response;
    this.#lifetime = lifetime;
    this.#sendQueue = sendQueue;
    this.#pieceBuffers = pieceBuffers;
    this.#isShared = isShared;
    this.#isChunked = isChunked;
  }

  get signal(): AbortSignal {
    return this.#lifetime.signal;
  }

  /** The few KiB that a response holds before it asks to wait are not counted. */
  get bufferedBytes(): number {
    return this.#bytes + this.#blockedBytes;
  }

  write(chunk: Buffer | string): void {
    if (this.#lifetime.isOver || this.#isEnding) return;
    const buffer = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    // Most often this is the only chunk until the writer's turn, and an array that grows would reserve room for sixteen
    // more.
    if (this.#chunks.length === 0) this.#chunks = [buffer];
    else this.#chunks.push(buffer);
    this.#bytes += buffer.length;
    if (this.#state === "idle") this.#queue();
  }

  end(): void {
    if (this.#lifetime.isOver || this.#isEnding) return;
    this.#isEnding = true;
    if (this.#state === "blocked") this.#lifetime.waitForClient();
    if (this.#state === "idle") this.#queue();
  }

  /** Called by the queue when it is this writer's turn. */
  send(): void {
    const response = this.#response;
    if (this.#lifetime.isOver) {
      this.#chunks = [];
      this.#bytes = 0;
      this.#state = "ended";
      return;
    }
    this.#state = "idle";
    const isTaken = this.#writePiece(this.#takePiece());
    if (this.#chunks.length === 0 && this.#isEnding) {
      this.#state = "ended";
      this.#lifetime.waitForClient();
      if (this.#isChunked) response.write(LAST_CHUNK);
      response.end();
    } else if (!isTaken) {
      this.#state = "blocked";
      this.#blockedBytes = response.writableLength ?? 0;
      if (this.#isEnding) this.#lifetime.waitForClient();
      response.once("drain", () => {
        this.#lifetime.clientCame();
        this.#blockedBytes = 0;
        this.#state = "idle";
        if (this.#chunks.length > 0 || this.#isEnding) this.#queue();
      });
    } else if (this.#chunks.length > 0) this.#queue();
  }

  #queue(): void {
    this.#state = "queued";
    this.#sendQueue.add(this);
  }

  #takePiece(): Piece {
    const chunks = this.#chunks;
    let size = 0;
    let count = 0;
    for (const { length } of chunks) {
      if (count > 0 && size + length > PIECE_BYTES) break;
      size += length;
      count++;
    }
    this.#bytes -= size;
    this.#chunks = count === chunks.length ? [] : chunks.slice(count);
    return { parts: count === chunks.length ? chunks : chunks.slice(0, count), size };
  }

  #writePiece({ parts, size }: Piece): boolean {
    if (size === 0) return true;
    if (this.#isChunked) return this.#response.write(this.#sendQueue.join(parts, "chunked"));
    if (this.#isShared || parts.length === 1) return this.#response.write(this.#sendQueue.join(parts));
    const whole = this.#pieceBuffers.fill(parts);
    return this.#response.write(whole, (error) => {
      if (!error) this.#pieceBuffers.release(whole);
    });
  }
}

const LAST_CHUNK = Buffer.from("0\r\n\r\n");
