import type { IncomingHttpHeaders } from "node:http";
import { CodedError } from "../../../base/errors.ts";

/** A request as it goes out, over either version of HTTP. */
export interface WireRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** The beginning of an answer. Either `read` or `discard` is called, once. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /**
   * Calls `onChunk` for each piece of the body. Resolves when the server has ended it in order. Rejects with a
   * TransportError when it breaks off, with AbortedError when the request's signal fires, and with what `onChunk` throws:
   * then the rest is let go.
   */
  read(onChunk: (chunk: Buffer) => void): Promise<void>;
  /** Lets go of the body. */
  discard(): void;
}

/** One connection to the server. */
export interface Connection {
  readonly protocol: "h2" | "http/1.1";
  /** Requests that it takes now. */
  readonly free: number;
  /** True until it is known how many requests it takes, which is soon: no other connection is opened meanwhile. */
  readonly isSettling: boolean;
  /** Requests that are under way, their bodies included. */
  readonly active: number;
  /** The signal is the request's until its body has been read. */
  send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
  /** Takes no more requests, and closes when the last has ended; those left after `graceMs` end as `retired`. */
  retire(graceMs: number): void;
  /** Breaks what is under way, with this error. */
  destroy(error: TransportError): void;
  /** Resolves when the socket is gone. */
  readonly closed: Promise<void>;
}

/**
 * `not-connected`: no connection could be made. `not-sent`: the server has not looked at the request, and it may be sent
 * again whatever it is. `broken`: the connection broke under it, and whether it was done is not known. `retired`: we
 * ended it, because the connection's credentials are of the past.
 */
export class TransportError extends CodedError<"not-connected" | "not-sent" | "broken" | "retired"> {
  override readonly name = "TransportError";
}

/**
 * The reason with which a request's signal fires when its time is over. A connection that lets a request time out is
 * suspected of being half-open; one whose request nobody wants any more is not.
 */
export const TIMED_OUT = new Error("timed out");
