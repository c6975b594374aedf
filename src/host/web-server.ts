import type { Duplex, Readable } from "node:stream";

/**
 * Serving HTTPS to many clients at once: HTTP/2 and HTTP/1.1 on one port, client certificates, answers that stream for
 * hours. What the control plane listens with.
 */
export type WebHandler = (request: WebRequest) => Promise<WebAnswer>;

export interface WebRequest {
  readonly method: string;
  /** As sent, not decoded; begins with `/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The same as sent; "" without one. */
  readonly rawQuery: string;
  /** The values of a header in the order sent, by its lower-case name. */
  header(name: string): readonly string[];
  /** All headers whose lower-case name begins so, by that name. */
  headersBeginning(prefix: string): Readonly<Record<string, readonly string[]>>;
  /**
   * Over HTTP/1.1 it asks for another protocol on its connection (`Connection: Upgrade`): the answer may take that over.
   * Such a request has no body.
   */
  readonly isUpgrade: boolean;
  /** From a client certificate that one of the server's authorities signed. */
  readonly peer: WebPeer | undefined;
  readonly remoteAddress: string;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Rejects with a CodedError `body-too-large` when there is more, `body-aborted` when the client left. */
  readBody(maxBytes: number): Promise<Buffer>;
  /**
   * The body as it arrives, no faster than it is read and for as long as the client takes; breaks when the client leaves.
   * In place of `readBody`, for those who pass it on. Undefined for a request that has none.
   */
  bodyStream(): Readable | undefined;
}

/** The subject of a client certificate. */
interface WebPeer {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256 of the certificate, in hexadecimal; undefined for a caller in this process, who has none. */
  readonly fingerprint?: string;
}

export interface WebAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Chunks go out one after the other, without being joined. */
  readonly body: WebBody;
}

export type WebBody = string | Buffer | readonly Buffer[] | StreamedBody | PipedBody | TakenOver;

/** A body that is written bit by bit, by somebody who never waits. */
interface StreamedBody {
  stream(writer: WebWriter): void;
}

/**
 * A body that is read from somewhere no faster than the client takes it. It is destroyed when the client leaves; when it
 * breaks, so does the answer, lest what came be taken for the whole.
 */
interface PipedBody {
  readonly source: Readable;
}

/**
 * The connection itself, in place of an answer. Only for a request that `isUpgrade`; others are cut off. Its status and
 * headers are not sent: whoever takes the socket writes the head too, and resolves when it is over. The server closes the
 * socket then, and before that when it closes itself.
 */
export interface TakenOver {
  takeOver(socket: Duplex): Promise<void>;
}

/** The other end of an answer that streams. */
export interface WebWriter {
  /** Never waits: look at `bufferedBytes` to learn that the client is slow. Nothing happens after the end. */
  write(chunk: Buffer | string): void;
  /** Written and not yet taken by the client's connection. */
  readonly bufferedBytes: number;
  end(): void;
  /** Aborted when the answer is over, by `end` or because the client has gone. */
  readonly signal: AbortSignal;
}

export interface WebServerOptions {
  readonly address: string;
  /** 0: any free one. */
  readonly port: number;
  readonly certificatePem: string;
  readonly keyPem: string;
  /** Whose client certificates are believed. */
  readonly clientAuthorityPem: string;
  /** What a client may take. Default: `WEB_LIMITS`. */
  readonly limits?: Partial<WebLimits>;
}

/** What a client may take of a server before it is cut off; nobody else is told or held up then. */
export interface WebLimits {
  /** Milliseconds from connecting to the end of TLS' greetings. */
  readonly greetingMs: number;
  /** Milliseconds that the headers of a connection's first request may take, and those of any in HTTP/1.1. */
  readonly headersMs: number;
  /** Milliseconds that a connection is kept on which nothing is asked. Pings do not count. */
  readonly quietMs: number;
  /**
   * Milliseconds that a client may take for the body of its request, or keep a piece of a complete answer waiting. An
   * answer that still streams may wait for ever: whoever writes it bounds what waits.
   */
  readonly waitMs: number;
  /** Beyond it the connection that has been quiet for longest is closed for a new one; where none is, the new one is. */
  readonly maxConnections: number;
  /** Of one connection at a time; HTTP/2 tells it to the client, and refuses more. */
  readonly maxStreams: number;
  /** Bytes of a request's line and headers; more is answered with 431. */
  readonly maxHeaderBytes: number;
}

/**
 * The times are those of kube-apiserver (32 s for headers, 90 s of quiet, 60 s for a request). It has no limit to its
 * connections, and allows 100 streams and a mebibyte of headers: here one process holds all of them, and a node's agent
 * watches hundreds of secrets and config maps on one connection.
 */
export const WEB_LIMITS: WebLimits = {
  greetingMs: 32_000,
  headersMs: 32_000,
  quietMs: 90_000,
  waitMs: 60_000,
  maxConnections: 4096,
  maxStreams: 1000,
  maxHeaderBytes: 64 * 1024,
};

export interface WebServer {
  readonly port: number;
  /** Stops listening, ends open connections, and resolves when they are gone. */
  close(): Promise<void>;
}

/** Rejects with a CodedError `listen-failed`, naming the address and what to change. */
export type ListenWeb = (options: WebServerOptions, handler: WebHandler) => Promise<WebServer>;
