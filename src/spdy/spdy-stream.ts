import { Duplex } from "node:stream";
import { AbortedError } from "../base/abort.ts";
import { RESET_STATUS } from "./frames.ts";
import type { SpdyHeaders } from "./header-block.ts";
import { SpdyError } from "./spdy-error.ts";

/**
 * One stream of a connection. Each way ends on its own: `end()` says that no more is sent, and `destroy()` ends both
 * ways at once. An error without a listener is not emitted: owners that need to know use `finished` or `pipeline`. The
 * stream fails with a `SpdyError`.
 */
export type SpdyStream = Duplex & {
  readonly id: number;
  /** The headers that the stream was opened with. */
  readonly headers: SpdyHeaders;
};

/** The connection's end of a stream. */
export interface StreamEnd {
  readonly stream: SpdyStream;
  /** Bytes that come after the end, or without a reader, are dropped. */
  receive(bytes: Buffer): void;
  /** The peer has sent all of its bytes. */
  finish(): void;
  /** The peer has ended both ways. `status` is one of `RESET_STATUS`. */
  resetByPeer(status: number): void;
  /** The connection is over. Bytes that have come can still be read. */
  lose(error: SpdyError): void;
}

/** The functions that a stream needs of its connection. */
export interface StreamCarrier {
  send(piece: { streamId: number; bytes: Buffer; fin: boolean; done: () => void }): void;
  /** Drops the bytes that wait to be sent. */
  forget(streamId: number): void;
  reset(streamId: number, status: number): void;
  /** Counts bytes that have come and are not read. The number is negative when they are read. */
  held(bytes: number): void;
  taken(streamId: number, bytes: number): void;
  /** The stream has ended for good. */
  gone(streamId: number): void;
}

/** A piece counts this much beyond its bytes, so that many small pieces are bounded too. */
const PIECE_OVERHEAD_BYTES = 128;
const HIGH_WATER_MARK_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Why a reset is a failure, by its status. `cancel` is no failure, because moby/spdystream ends every finished stream
 * with it.
 */
const RESET_REASONS: ReadonlyMap<number, string> = new Map([
  [RESET_STATUS.protocolError, "protocol error"],
  [RESET_STATUS.invalidStream, "invalid stream"],
  [RESET_STATUS.refusedStream, "refused"],
  [RESET_STATUS.internalError, "internal error"],
  [RESET_STATUS.flowControlError, "flow control error"],
]);

/**
 * The two ways:
 *
 *   what comes:  open ──FIN, or RST_STREAM with cancel──▶ ended
 *   what goes:   open ──our FIN──▶ finished
 *                   └──RST_STREAM from the peer, connection lost──▶ void: what is written goes nowhere, and is no error
 *                      (a writer learns of it by the end of what comes, and can still read what has come)
 */
export function createSpdyStream(id: number, headers: SpdyHeaders, carrier: StreamCarrier): StreamEnd {
  const queue: Buffer[] = [];
  let isWanted = false;
  let hasEnded = false;
  let outgoing: "open" | "finished" | "void" = "open";
  let sending: ((error: Error | null) => void) | undefined;

  const send = (bytes: Buffer, fin: boolean, callback: (error: Error | null) => void) => {
    if (outgoing !== "open") {
      callback(null);
      return;
    }
    sending = callback;
    carrier.send({ streamId: id, bytes, fin, done: () => doneSending(fin) });
  };

  const doneSending = (fin: boolean, error: Error | null = null) => {
    if (fin && outgoing === "open") outgoing = "finished";
    const callback = sending;
    sending = undefined;
    callback?.(error);
  };

  const duplex = new Duplex({
    highWaterMark: HIGH_WATER_MARK_BYTES,
    read() {
      isWanted = true;
      deliver();
    },
    write: (chunk: Buffer, _encoding, callback) => send(chunk, false, callback),
    final: (callback) => send(NOTHING, true, callback),
    destroy(error, callback) {
      carrier.forget(id);
      if (outgoing === "open" || (outgoing === "finished" && !hasEnded)) carrier.reset(id, RESET_STATUS.cancel);
      outgoing = "void";
      for (const piece of queue.splice(0)) release(piece);
      carrier.gone(id);
      callback(error);
      doneSending(false, error ?? new AbortedError("the stream was destroyed"));
    },
  });
  // Without a listener an error would end the process, and a connection may be lost before its owner has got the
  // stream.
  duplex.on("error", () => undefined);

  const deliver = () => {
    while (isWanted) {
      const piece = queue.shift();
      if (piece === undefined) break;
      isWanted = duplex.push(piece);
      release(piece);
    }
    if (hasEnded && queue.length === 0 && !duplex.readableEnded && !duplex.destroyed) duplex.push(null);
  };

  const release = (piece: Buffer) => {
    carrier.held(-costOf(piece));
    carrier.taken(id, piece.length);
  };

  const stopSending = () => {
    outgoing = "void";
    carrier.forget(id);
    doneSending(false);
  };

  const finish = () => {
    if (hasEnded) return;
    hasEnded = true;
    deliver();
  };

  return {
    stream: Object.assign(duplex, { id, headers }),
    receive(bytes) {
      if (bytes.length === 0) return;
      carrier.held(costOf(bytes));
      if (hasEnded || duplex.destroyed) {
        release(bytes);
        return;
      }
      queue.push(bytes);
      deliver();
    },
    finish,
    resetByPeer(status) {
      stopSending();
      const reason = RESET_REASONS.get(status) ?? `status ${status}`;
      if (status === RESET_STATUS.cancel || hasEnded) finish();
      else if (status === RESET_STATUS.refusedStream)
        duplex.destroy(new SpdyError("refused", "the peer refused the stream"));
      else duplex.destroy(new SpdyError("stream-error", `the peer reset the stream: ${reason}`));
    },
    lose(error) {
      stopSending();
      if (!hasEnded) duplex.destroy(error);
    },
  };
}

const costOf = (piece: Buffer) => piece.length + PIECE_OVERHEAD_BYTES;
