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
  /** Others are likely to send the same at the same time. */
  readonly isShared: boolean;
  /** HTTP/1.1 sends what has no known length in chunks that say theirs; done here, it is done once for all who share. */
  readonly isChunked: boolean;
}

/**
 * Sends what is written in few large pieces, and no more than the client takes: the rest waits here, as the chunks that
 * they are, which are often the stored objects themselves.
 *
 *   idle ──write──▶ queued ──turn──▶ idle, queued (there is more) or blocked (the client is slow) ──drain──▶ queued
 *
 * A class, because an event meets a thousand of them: objects that are each made with getters of their own have nothing
 * in common for the compiler, and every look at one of them is a search.
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
  /** What the response had not passed on when it asked to wait. */
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

  /** Without what a response holds that does not ask to wait, which is a few KiB at most. */
  get bufferedBytes(): number {
    return this.#bytes + this.#blockedBytes;
  }

  write(chunk: Buffer | string): void {
    if (this.#lifetime.isOver || this.#isEnding) return;
    const buffer = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    // Most often it is the only one until its turn: an array that grows would reserve room for sixteen more.
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

  /** The turn that the queue gives. */
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
