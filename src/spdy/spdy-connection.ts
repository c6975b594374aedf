import type { Clock } from "../base/clock.ts";
import type { SpdyHeaders } from "./header-block.ts";
import type { SpdyError } from "./spdy-error.ts";
import type { SpdyStream } from "./spdy-stream.ts";

/** SPDY/3.1 over one connection: many streams, opened by either end. */
export interface SpdyConnection {
  /**
   * Resolves when the peer has accepted the stream; nothing may be sent in it before. Rejects with a `SpdyError`, or
   * with `AbortedError` when the signal fires.
   */
  openStream(headers: Readonly<Record<string, string>>, options?: OpenStreamOptions): Promise<SpdyStream>;
  /** Resets all streams, tells the peer and ends the socket. Idempotent; resolves together with `closed`. */
  close(): Promise<void>;
  /**
   * Resolves when the socket has closed and no stream is left. The value is the reason where neither end wanted the
   * end.
   */
  readonly closed: Promise<SpdyError | undefined>;
  /** The number of streams that are not closed in both ways. */
  readonly streamCount: number;
}

export interface SpdyConnectionOptions {
  readonly role: "client" | "server";
  readonly clock: Pick<Clock, "setTimer" | "monotonic">;
  /** It gets each stream that the peer has opened. Default: all are refused. */
  readonly onStream?: (stream: SpdyStream) => void;
  /** Decides whether to accept a stream that the peer opens. Default: yes. */
  readonly accept?: (headers: SpdyHeaders) => boolean;
  /**
   * Milliseconds of quiet after which the peer is pinged, so that proxies on the way keep the connection open. Default:
   * never.
   */
  readonly pingPeriodMs?: number;
  /** Milliseconds without a frame other than pings, after which the connection ends. Default: never. */
  readonly idleTimeoutMs?: number;
  readonly limits?: Partial<SpdyLimits>;
}

/** Options of opening a stream. */
export interface OpenStreamOptions {
  /** Milliseconds that the peer may take to accept. Default: 30 s, as for client-go (`createStreamResponseTimeout`). */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The bounds for a peer. */
export interface SpdyLimits {
  /** Streams that either end may open. Beyond it streams of the peer are refused, and `openStream` rejects. */
  readonly maxStreams: number;
  /** Bytes that were received and not read, in all streams together. Beyond it no stream receives anything more. */
  readonly maxUnreadBytes: number;
  /** Bytes of a control frame. A longer frame is a protocol error. */
  readonly maxControlBytes: number;
  /** Bytes of a stream's headers. Longer headers are a protocol error. */
  readonly maxHeaderBytes: number;
  /** Bytes that were sent and not taken. A peer that causes more, because it reads none of the answers, is cut off. */
  readonly maxUnsentBytes: number;
}

/** These limits are generous for kubectl, and bound every other client. */
export const SPDY_LIMITS: SpdyLimits = {
  maxStreams: 1000,
  maxUnreadBytes: 1024 * 1024,
  maxControlBytes: 64 * 1024,
  maxHeaderBytes: 64 * 1024,
  maxUnsentBytes: 4 * 1024 * 1024,
};
