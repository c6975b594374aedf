import type { Readable } from "node:stream";

/**
 * Calls a server over HTTP/1.1, on a connection of its own that ends with the answer. Redirects are not followed.
 * Rejects with `AbortedError` when the signal fires before there is an answer, and with a CodedError `call-failed` when
 * the server cannot be reached or its answer is no HTTP. The message is in the words that Go's programs have for it
 * (`dial tcp 10.0.0.1:80: connect: connection refused`), because people search for those. An answer's body breaks when
 * the signal fires.
 */
export type CallWeb = (call: WebCall, signal: AbortSignal) => Promise<WebReply>;

/** The server that is called. */
export interface WebServer {
  readonly scheme: "http" | "https";
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  /**
   * The addresses that the caller has found for the host and checked. The call goes to one of these, and the name is not
   * looked up again, because it may lead elsewhere by then. Default: what a lookup finds.
   */
  readonly addresses?: readonly string[];
}

/** The request. */
export interface WebCall extends WebServer {
  readonly method: string;
  /** The path with its query; sent as it is. */
  readonly target: string;
  /** Headers by lower-case names, sent as they are. `host` is the address unless it is among them. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The body is sent in chunks unless the headers say how long it is. Default: none. */
  readonly body?: Readable;
  /** Only for `https`. */
  readonly tls?: CallTls;
}

/** How TLS is spoken with the server. */
export interface CallTls {
  /** The caller's own certificate, in PEM. */
  readonly cert?: string;
  readonly key?: string;
  /**
   * The authorities whose certificates are believed. Undefined: every certificate is believed, which is how API servers
   * call nodes unless they are told otherwise.
   */
  readonly ca: string | undefined;
}

/** An answer whose body is still coming; it must be read or destroyed. */
export interface WebReply {
  readonly status: number;
  /** Headers by lower-case names, values in the order sent. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Readable;
}
