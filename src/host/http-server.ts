import type { Duplex, Readable } from "node:stream";

/**
 * Serving HTTP: one door for the node's pages (plain, on a port or a unix socket), the node's own API (TLS, with an
 * identity that changes) and the API server (TLS, HTTP/2, answers that stream for hours). They differ by options alone.
 */
export type HttpHandler = (request: ServedRequest) => Promise<ServedAnswer> | ServedAnswer;

export interface ServedRequest {
  readonly method: string;
  /** It begins with `/`. It is as sent, or decoded where the options say so. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The query as sent; "" without one. */
  readonly rawQuery: string;
  /** The values of a header in the order sent, by its lower-case name. */
  header(name: string): readonly string[];
  /** All headers whose lower-case name begins with the prefix, by that name. */
  headersBeginning(prefix: string): Readonly<Record<string, readonly string[]>>;
  /**
   * True when the client asks over HTTP/1.1 for another protocol on its connection (`Connection: Upgrade`). The answer
   * may take the connection over. Such a request has no body.
   */
  readonly isUpgrade: boolean;
  /** Undefined where the client showed no certificate, or was not asked for one. */
  readonly peer: ServedPeer | undefined;
  /** "" over a unix socket. */
  readonly remoteAddress: string;
  /** Aborted when the client has gone or the server closes. */
  readonly signal: AbortSignal;
  /**
   * Notes that the client has proven to be this user. From then on its connection makes room for others only where those
   * of all strangers have, and counts among those of its user.
   */
  vouch(user: string): void;
  /**
   * Rejects with a CodedError: `body-too-large` when there is more, `body-in-pieces` when thousands of chunks have hardly
   * any bytes, `body-aborted` when the client left.
   */
  readBody(maxBytes: number): Promise<Buffer>;
  /**
   * The body as it arrives, no faster than it is read and for as long as the client takes. It breaks when the client
   * leaves. It takes the place of `readBody` where the body is passed on. Undefined for a request without a body.
   */
  bodyStream(): Readable | undefined;
}

/**
 * A client certificate. The authorities that were in force when the connection was made decide whether it is verified.
 */
export type ServedPeer =
  | {
      readonly kind: "verified";
      /** Empty where the subject has none. */
      readonly commonName: string;
      readonly organizations: readonly string[];
      /** SHA-256 of the certificate, in hexadecimal. */
      readonly fingerprint: string;
      /** Milliseconds since the epoch; connections last longer than some certificates. */
      readonly notAfter: number;
    }
  | { readonly kind: "unverified"; readonly reason: string };

/** Headers by name. A list is a header of several lines. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/**
 * The answer of a handler. No header can break an answer: a character that HTTP does not allow in a value is escaped,
 * and a header that the version of HTTP forbids is left out.
 */
export interface ServedAnswer {
  readonly status: number;
  readonly headers?: AnswerHeaders;
  readonly body: AnswerBody;
  /** True: the connection ends with this answer, if it is a connection of HTTP/1.1. */
  readonly closes?: boolean;
  /** Called once when the answer is sent, or of no use because the client has gone. It must not throw. */
  readonly onOver?: () => void;
}

/** The chunks of a list go out one after the other, without being joined. */
export type AnswerBody = string | Buffer | readonly Buffer[] | StreamedBody | PacedBody | PipedBody | TakenOver;

/** A body that is written bit by bit, by a writer that never waits. */
interface StreamedBody {
  stream(writer: AnswerWriter): void;
}

/** A body that is written bit by bit, by a writer that waits for its client. */
interface PacedBody {
  /**
   * The answer ends when this resolves. When it rejects, the client gets what was written and then a broken connection,
   * so that it does not take the part for the whole. It is not called where only the head is asked for.
   */
  produce(writer: PacedWriter): Promise<void>;
}

/**
 * A body that is read from a source no faster than the client takes it. The source is destroyed when the client leaves.
 * When the source breaks, so does the answer.
 */
interface PipedBody {
  readonly source: Readable;
}

/**
 * The connection itself, in place of an answer. It is only for a request with `isUpgrade`; the connection of any other
 * request is cut off. Status and headers of the answer are not sent.
 */
export interface TakenOver {
  /**
   * Writes the answer's head and all that follows, and resolves when that is over, which is soon after the socket has
   * closed. The server closes the socket then, and earlier when the server itself closes; it waits for this promise to
   * settle.
   */
  takeOver(socket: Duplex): Promise<void>;
}

/** The other end of an answer that streams. */
export interface AnswerWriter {
  /** It never waits: `bufferedBytes` tells that the client is slow. A write after the end does nothing. */
  write(chunk: Buffer | string): void;
  /** Bytes that were written and that the client's connection has not yet taken. */
  readonly bufferedBytes: number;
  end(): void;
  /** Aborted when the answer is over, by `end` or because the client has gone. */
  readonly signal: AbortSignal;
}

/** The other end of an answer that is paced by its client. */
export interface PacedWriter {
  /** Resolves when there is room for more; rejects with AbortedError when the client has gone. */
  write(chunk: Buffer): Promise<void>;
  /** Aborted when the client has gone or the server closes. */
  readonly signal: AbortSignal;
}

/**
 * An answer that is one text and needs no more of the request than these fields. Most of the node's endpoints are
 * pages.
 */
export type Page = ServedAnswer & { readonly body: string };
export type PageRequest = Pick<ServedRequest, "method" | "path" | "query"> & { readonly signal?: AbortSignal };
export type PageHandler = (request: PageRequest) => Promise<Page> | Page;

/** A port of an address (0: any free one), or a unix socket, which only its owner may use. */
export type ListenAddress = { readonly address: string; readonly port: number } | { readonly socketPath: string };

export interface HttpServerOptions {
  readonly at: ListenAddress;
  /** Undefined: plain HTTP. */
  readonly tls?: ServerTls;
  /** True: HTTP/2 is served beside HTTP/1.1; only with TLS. Default false. */
  readonly http2?: boolean;
  /**
   * True: `path` is decoded, so that authorization and routing see the same path. A path that cannot be decoded is
   * answered with 400. Default false: `path` is as sent.
   */
  readonly decodesPath?: boolean;
  /** False: bodies are not read, and a connection ends with the answer to a request that has one. Default true. */
  readonly readsBodies?: boolean;
  /** These headers go with every answer that does not set them itself. */
  readonly defaultHeaders?: AnswerHeaders;
  /** The bounds for clients. Default: `HTTP_LIMITS`. */
  readonly limits?: Partial<HttpLimits>;
  /** Says by its two addresses whether a connection is taken; others are cut before a byte is read. Default: all are. */
  readonly takes?: (remoteAddress: string, localAddress: string) => boolean;
  /** It is called for each connection that ended during the TLS handshake. */
  readonly onBadConnection?: (reason: string, remoteAddress: string) => void;
}

/**
 * The settings of TLS. They hold as long as the server lives; only the identity changes. No session is ever resumed,
 * because a session keeps the judgement of authorities that may have been replaced, of a certificate that may have
 * ended.
 */
export interface ServerTls {
  readonly identity: ServingIdentity;
  /** Clients are asked for a certificate; the identity must then name authorities. */
  readonly asksForCertificate: boolean;
  /** Default: Node.js's own. */
  readonly minVersion?: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3" | undefined;
  /** OpenSSL's list. Default: Node.js's own. */
  readonly ciphers?: string | undefined;
  /** OpenSSL's list. Default: its own. */
  readonly curves?: string | undefined;
}

/** The certificate that the server shows, and the authorities of the clients that it believes. Both may change. */
export interface ServingIdentity {
  /** Undefined: every handshake fails. */
  readonly pair: { readonly certificatePem: string; readonly keyPem: string } | undefined;
  /** Undefined: no client certificate is believed. */
  readonly clientAuthorityPem: string | undefined;
}

/**
 * The bounds for what a client may take of a server before it is cut off. The cut does not disturb any other client.
 */
export interface HttpLimits {
  /** Milliseconds from connecting to the end of the TLS handshake. */
  readonly greetingMs: number;
  /** Milliseconds that the headers of a connection's first request may take, and those of any request in HTTP/1.1. */
  readonly headersMs: number;
  /** Milliseconds that a connection without a request is kept. Pings do not count as requests. */
  readonly quietMs: number;
  /**
   * Milliseconds that a client may take for the body of its request, or keep a piece of a complete answer waiting. An
   * answer that still streams may wait for ever: its writer bounds the bytes that wait.
   */
  readonly waitMs: number;
  /**
   * Beyond this number a new connection closes another one. The address that has most connections of strangers loses
   * the one that has been quiet for longest, or else one with an open request. Where no stranger is left, the quietest
   * connection of a known client goes. If none is quiet, the user who has most connections loses one with an open
   * request, so that nobody keeps all others out. If nobody has two, the new one is closed.
   */
  readonly maxConnections: number;
  /**
   * Connections of clients who have not proven who they are, or not yet; beyond it one of them makes room as beyond
   * `maxConnections`. Each takes some 35 KiB for TLS before it has said anything, and its first head.
   */
  readonly maxStrangers: number;
  /**
   * Bytes that the open requests of all connections hold: heads, and bodies as far as they have come. Beyond it the user,
   * or the address of strangers, who holds most loses the connection that holds most.
   */
  readonly maxHeldBytes: number;
  /**
   * Bytes of heads that have begun and not ended, of all connections. Beyond it connections are closed as beyond
   * `maxHeldBytes`.
   */
  readonly maxHeadBytes: number;
  /**
   * Streams of one connection at a time whose client has proven who it is. HTTP/2 tells the number to the client, and refuses
   * more. Who begins twice as many before anybody else is served is cut off.
   */
  readonly maxStreams: number;
  /** The same of a client that has not. */
  readonly maxStrangersStreams: number;
  /** Bytes of a request's line and headers; more is answered with 431. */
  readonly maxHeaderBytes: number;
}

/**
 * The times are those of kube-apiserver (32 s for headers, 90 s of quiet, 60 s for a request). kube-apiserver does not
 * limit its connections, and allows 100 streams and a mebibyte of headers. The limits here differ because one process
 * holds all connections, and a node's agent watches hundreds of secrets and config maps on one connection.
 */
export const HTTP_LIMITS: HttpLimits = {
  greetingMs: 32_000,
  headersMs: 32_000,
  quietMs: 90_000,
  waitMs: 60_000,
  maxConnections: 4096,
  maxStrangers: 1024,
  maxHeldBytes: 128 * 1024 * 1024,
  maxHeadBytes: 32 * 1024 * 1024,
  maxStreams: 1000,
  maxStrangersStreams: 128,
  maxHeaderBytes: 64 * 1024,
};

export interface HttpServer {
  /** The port that was taken; 0 for a unix socket. */
  readonly port: number;
  /**
   * Uses the identity for connections from now on. Open connections end after their next answer, because they were
   * judged by the old identity. Throws for an identity that TLS cannot use, with the old one still in force, and for a
   * server without TLS.
   */
  use(identity: ServingIdentity): void;
  /** Stops listening, ends open connections, and resolves when they are gone. */
  close(): Promise<void>;
}

/** Rejects with a CodedError `listen-failed`, naming the address and what to change. */
export type ListenHttp = (options: HttpServerOptions, handler: HttpHandler) => Promise<HttpServer>;

/** What is said of a port where another process listens. Who started this one may choose another port then. */
export const PORT_TAKEN = "another process listens there";
