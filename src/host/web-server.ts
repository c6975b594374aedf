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
  /** The values of a header in the order sent, by its lower-case name. */
  header(name: string): readonly string[];
  /** All headers whose lower-case name begins so, by that name. */
  headersBeginning(prefix: string): Readonly<Record<string, readonly string[]>>;
  /** From a client certificate that one of the server's authorities signed. */
  readonly peer: WebPeer | undefined;
  readonly remoteAddress: string;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Rejects with a CodedError `body-too-large` when there is more, `body-aborted` when the client left. */
  readBody(maxBytes: number): Promise<Buffer>;
}

/** The subject of a client certificate. */
export interface WebPeer {
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

export type WebBody = string | Buffer | readonly Buffer[] | { stream(writer: WebWriter): void };

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
}

export interface WebServer {
  readonly port: number;
  /** Stops listening, ends open connections, and resolves when they are gone. */
  close(): Promise<void>;
}

/** Rejects with a CodedError `listen-failed`, naming the address and what to change. */
export type ListenWeb = (options: WebServerOptions, handler: WebHandler) => Promise<WebServer>;
