import type { Duplex } from "node:stream";
import type { ServedRequest, ServedResponse } from "./http-server.ts";

/**
 * Serving HTTPS to few clients, with a certificate and authorities that change while it serves: what the node's own API
 * listens with. HTTP/1.1 only.
 */
export type SecureHandler = (request: SecureRequest) => Promise<SecureAnswer> | SecureAnswer;

/** `path` is decoded, so that whoever authorizes it and whoever routes by it see the same. */
export interface SecureRequest extends ServedRequest {
  /** As sent; undefined where there is none. */
  readonly authorization: string | undefined;
  /** Who the client's certificate says it is; undefined where it showed none, or was not asked for one. */
  readonly peer: SecurePeer | undefined;
  readonly remoteAddress: string;
  /** The first value of a header, by its name in any case. */
  header(name: string): string | undefined;
  /** All headers by their names in lower case, with their values in the order sent. */
  headers(): Record<string, string[]>;
  /** It asks for another protocol on its connection (`Connection: Upgrade`): the answer may be `TakenOver`. */
  readonly isUpgrade: boolean;
  /** Aborted when the client has gone or the server closes. */
  readonly signal: AbortSignal;
}

/** A client certificate: believed, or not, by the authorities that were in force when the connection was made. */
export type SecurePeer =
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

export interface SecureResponse extends ServedResponse {
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection ends with this answer. */
  readonly closes?: boolean;
}

/** What a handler answers: at once, in pieces, or in a protocol of its own. */
export type SecureAnswer = SecureResponse | StreamedAnswer | TakenOver;

/** An answer of unknown length: its head goes out at once, then chunks as they are written. */
export interface StreamedAnswer {
  readonly status: number;
  /** Default `text/plain; charset=utf-8`. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The answer ends when this resolves; when it rejects, the connection is destroyed, so that nobody takes what came for
   * the whole. Not called where only the head is asked for.
   */
  stream(writer: AnswerWriter): Promise<void>;
}

/** Where the pieces of an answer go. */
export interface AnswerWriter {
  /** Resolves when there is room for more; rejects with AbortedError when the client has gone. */
  write(chunk: Buffer): Promise<void>;
  /** Aborted when the client has gone or the server closes. */
  readonly signal: AbortSignal;
}

/** The connection itself is handed over. Only for a request that `isUpgrade`; elsewhere the connection is destroyed. */
interface TakenOver {
  /**
   * Whoever takes the socket writes the answer's head too, and resolves when it is over, which is soon after the socket
   * has closed. The server destroys what is left of the socket then, and before that when it closes itself.
   */
  takeOver(socket: Duplex): Promise<void>;
}

/** What TLS is spoken with, as long as the server lives. */
export interface SecureServerOptions {
  readonly address: string;
  /** 0: any free one. */
  readonly port: number;
  readonly minVersion: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";
  /** OpenSSL's list; undefined: Node.js's own. */
  readonly ciphers: string | undefined;
  /** OpenSSL's list; undefined: its own. */
  readonly curves: string | undefined;
  /** Clients are asked for a certificate; the identity must then name authorities. */
  readonly asksForCertificate: boolean;
}

/** What the server shows, and whom it believes; both may change. */
export interface ServingIdentity {
  /** Undefined: every handshake fails. */
  readonly pair: { readonly certificatePem: string; readonly keyPem: string } | undefined;
  /** Undefined: no client certificate is believed. */
  readonly clientAuthorityPem: string | undefined;
}

export interface SecureServer {
  readonly port: number;
  /**
   * For connections from now on. Those that are open end after their next answer, for they were judged by what held
   * before. Throws, with the old identity still in force, for one that TLS cannot use.
   */
  use(identity: ServingIdentity): void;
  /** Stops listening, ends open connections, and resolves when they are gone. */
  close(): Promise<void>;
}

/** Told of a connection that ended before a request came: its handshake failed, or what came was no HTTP. */
type OnBadConnection = (reason: string, remoteAddress: string) => void;

/** Rejects with a CodedError `listen-failed`, naming the address and what to change. */
export type ListenSecure = (
  options: SecureServerOptions,
  identity: ServingIdentity,
  on: { readonly request: SecureHandler; readonly badConnection: OnBadConnection },
) => Promise<SecureServer>;
