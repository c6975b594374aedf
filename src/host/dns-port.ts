/** The way by which a message of DNS travels. Over UDP it is a datagram, over TCP it has two bytes of length before it. */
export type DnsTransport = "udp" | "tcp";

/** A client that asked, as far as an answer depends on it. */
export interface DnsPeer {
  readonly transport: DnsTransport;
  readonly family: "ipv4" | "ipv6";
  /** Where the message came from, as it says: over UDP that may be forged. */
  readonly address: string;
  /** Aborted when the client's connection or the server has gone. */
  readonly signal: AbortSignal;
}

/**
 * Answers one message; undefined sends nothing. A message that can be answered at once is, without a promise. A
 * rejection other than an abort is a bug, and is passed to `onBug`.
 */
export type DnsHandler = (message: Buffer, peer: DnsPeer) => Buffer | undefined | Promise<Buffer | undefined>;

interface DnsServerOptions {
  readonly address: string;
  /** The port is the same for UDP and TCP; 0 means any that is free for both. */
  readonly port: number;
  readonly onBug: (error: unknown) => void;
  /** The bounds for clients. Default: `DNS_LIMITS`. */
  readonly limits?: Partial<DnsLimits>;
}

/** The bounds for what clients may take of a server. */
export interface DnsLimits {
  /** Datagrams that wait for an answer; further ones are dropped, and their clients ask again. */
  readonly maxDatagrams: number;
  /** Connections at a time; further ones are closed at once. */
  readonly maxConnections: number;
  /** Those from one address, so that one client does not take all; further ones are closed at once. */
  readonly maxConnectionsPerClient: number;
  /**
   * Messages of one connection that wait for an answer; the connection is not read meanwhile, nor while answers wait for
   * the client to read.
   */
  readonly maxPerConnection: number;
  /** Milliseconds that a connection may be quiet, and that a message may take to arrive. */
  readonly quietMs: number;
}

/** The quiet time is that of CoreDNS. A connection that is held open costs some ten kilobytes. */
export const DNS_LIMITS: DnsLimits = {
  maxDatagrams: 2_000,
  maxConnections: 500,
  maxConnectionsPerClient: 100,
  maxPerConnection: 32,
  quietMs: 10_000,
};

/** A server that listens. */
export interface DnsServer {
  readonly port: number;
  /** Stops listening and cuts off every connection. Idempotent. */
  close(): Promise<void>;
}

/** Listens on both transports. Rejects with Node.js's error (`EADDRINUSE`, …) and leaves nothing open then. */
export type ListenDns = (options: DnsServerOptions, handle: DnsHandler) => Promise<DnsServer>;

/** A question to another server. */
export interface DnsCall {
  readonly address: string;
  readonly port: number;
  readonly transport: DnsTransport;
  readonly message: Buffer;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Tells the answer from what others send. What is not the answer is ignored, and the wait goes on. */
  isAnswer(message: Buffer): boolean;
}

/**
 * Asks another server, each time from a new socket, whose port the kernel chooses at random. Rejects with a CodedError
 * `timed-out` or `unreachable`, and with `AbortedError`.
 */
export type CallDns = (call: DnsCall) => Promise<Buffer>;
