import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import { createByteCollector } from "../../../base/byte-collector.ts";
import { CodedError, messageOf } from "../../../base/errors.ts";
import type { ServedPeer, ServedRequest } from "../../http-server.ts";

/**
 * Lasts until an answer is over: it was sent, or is of no use because the client has gone. It is a class, because every
 * request makes one.
 */
export class Lifetime {
  readonly #cutOff: () => void;
  #controller: AbortController | undefined;
  #isOver = false;
  #watcher: LifetimeWatcher | undefined;
  #heldBytes = 0;
  #waitsSince: number | undefined;
  #chunks = 0;

  /** `cutOff` ends the exchange without an answer. */
  constructor(cutOff: () => void) {
    this.#cutOff = cutOff;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The signal is made when it is first asked for, because most requests end without it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  /** There is one watcher, which may be that of many lifetimes. */
  watchBy(watcher: LifetimeWatcher): void {
    this.#watcher = watcher;
  }

  vouch(user: string): void {
    this.#watcher?.vouched(user);
  }

  /** The bytes that the request holds until its lifetime is over. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  hold(bytes: number): void {
    if (this.#isOver) return;
    this.#heldBytes += bytes;
    this.#watcher?.held(bytes);
  }

  /** Notes a chunk of the request's body, also after its lifetime. False when too many small ones have come. */
  takeChunk(bytes: number, fairBytes: number): boolean {
    this.#chunks++;
    return this.#chunks <= FREE_CHUNKS || this.#watcher?.takesChunk(bytes, fairBytes) !== false;
  }

  /** Notes that it is the client's turn: the exchange does not go on before the client reads or writes. */
  waitForClient(): void {
    this.#waitsSince = performance.now();
  }

  /** Notes that the client has read or written. */
  clientCame(): void {
    this.#waitsSince = undefined;
  }

  /** Milliseconds that the exchange has waited for the client; 0 while it is not the client's turn. */
  waitedMs(now: number): number {
    return this.#waitsSince === undefined ? 0 : now - this.#waitsSince;
  }

  giveUp(): void {
    this.clientCame();
    this.#cutOff();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watcher?.ended(this);
    this.#controller?.abort();
  }
}

/** The first chunks of a body are part of what its request costs anyway. */
const FREE_CHUNKS = 16;

/** What a lifetime tells of itself. */
export interface LifetimeWatcher {
  /** The client has proven who it is. */
  vouched(user: string): void;
  /** The request holds so many bytes more. */
  held(bytes: number): void;
  /** A chunk of a body has come. Answers whether it is to be taken. */
  takesChunk(bytes: number, fairBytes: number): boolean;
  /** It is told once. */
  ended(lifetime: Lifetime): void;
}

/**
 * HTTP/1.1 requests come through the same event as those of HTTP/2, and through their own when they ask for an upgrade.
 */
export type RawRequest = Http2ServerRequest | (IncomingMessage & { readonly stream?: undefined });

/** Returns undefined when the request's target is no path, or cannot be decoded where it must be. */
export function describeRequest(
  raw: RawRequest,
  lifetime: Lifetime,
  { decodesPath = false }: { readonly decodesPath?: boolean },
): ServedRequest | undefined {
  const target = raw.url ?? "";
  if (!target.startsWith("/") || target.startsWith("//")) return undefined;
  const queryAt = target.indexOf("?");
  const sent = queryAt === -1 ? target : target.slice(0, queryAt);
  const path = decodesPath ? decodePath(sent) : sent;
  const rawQuery = queryAt === -1 ? "" : target.slice(queryAt + 1);
  return path === undefined ? undefined : new ReceivedRequest(raw, lifetime, { path, rawQuery });
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

class ReceivedRequest implements ServedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly rawQuery: string;
  readonly peer: ServedPeer | undefined;
  readonly remoteAddress: string;
  readonly isUpgrade: boolean;
  readonly #raw: RawRequest;
  readonly #lifetime: Lifetime;
  #headers: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(raw: RawRequest, lifetime: Lifetime, { path, rawQuery }: { path: string; rawQuery: string }) {
    const socket = socketOf(raw);
    this.method = raw.method ?? "";
    this.path = path;
    this.rawQuery = rawQuery;
    this.query = new URLSearchParams(rawQuery);
    this.peer = socket && peerOf(socket);
    this.remoteAddress = socket?.remoteAddress ?? "";
    this.isUpgrade = "upgrade" in raw && raw.upgrade === true;
    this.#raw = raw;
    this.#lifetime = lifetime;
  }

  get signal(): AbortSignal {
    return this.#lifetime.signal;
  }

  vouch(user: string): void {
    this.#lifetime.vouch(user);
  }

  header(name: string): readonly string[] {
    this.#headers ??= readHeaders(this.#raw);
    return this.#headers.get(name) ?? [];
  }

  headersBeginning(prefix: string): Readonly<Record<string, readonly string[]>> {
    this.#headers ??= readHeaders(this.#raw);
    return Object.fromEntries([...this.#headers].filter(([name]) => name.startsWith(prefix)));
  }

  async readBody(maxBytes: number): Promise<Buffer> {
    this.#lifetime.waitForClient();
    try {
      return await readBody(this.#raw, maxBytes, this.#lifetime);
    } finally {
      this.#lifetime.clientCame();
    }
  }

  bodyStream(): Readable | undefined {
    if (!hasBody(this.#raw)) return undefined;
    // A listener sets the body in motion, so that this one waits until somebody reads.
    this.#raw.once("resume", () => {
      this.#raw.on("data", ({ length }: Buffer) => this.#lifetime.takeChunk(length, FAIR_PASSED_BYTES));
    });
    return this.#raw;
  }
}

/** The headers tell: HTTP/2 marks requests without a body, and HTTP/1.1 announces a body in its headers. */
export function hasBody(raw: RawRequest): boolean {
  if ("stream" in raw && raw.stream !== undefined) return !raw.stream.endAfterHeaders;
  return raw.headers["transfer-encoding"] !== undefined || (raw.headers["content-length"] ?? "0") !== "0";
}

/** Headers by their lower-case names. Repeated headers stay apart: `Impersonate-Group` comes once for each group. */
function readHeaders({ rawHeaders }: RawRequest): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    const values = byName.get(name);
    if (values) values.push(rawHeaders[index + 1] ?? "");
    else byName.set(name, [rawHeaders[index + 1] ?? ""]);
  }
  return byName;
}

/** The socket of the connection. HTTP/1.1 requests have a socket of their own. */
function socketOf(raw: RawRequest): Socket | undefined {
  if ("stream" in raw && raw.stream !== undefined) return raw.stream.session?.socket;
  return raw.socket;
}

const peers = new WeakMap<object, { readonly peer: ServedPeer | undefined }>();

/** The peer is read once for each connection. */
function peerOf(socket: Socket): ServedPeer | undefined {
  const known = peers.get(socket);
  if (known) return known.peer;
  const peer = isTls(socket) ? readPeer(socket) : undefined;
  peers.set(socket, { peer });
  return peer;
}

function readPeer(socket: TLSSocket): ServedPeer | undefined {
  // A resumed session counts as authorized even where there was no certificate.
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  if (!socket.authorized) return { kind: "unverified", reason: String(socket.authorizationError) };
  const { subject } = certificate.toLegacyObject();
  const [commonName = "", ...others] = valuesOf(subject?.CN);
  // Readers differ in which of several they take, and the signer may have read another one.
  if (others.length > 0) return { kind: "unverified", reason: "the subject has more than one common name" };
  return {
    kind: "verified",
    commonName,
    organizations: valuesOf(subject?.O),
    fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
    notAfter: Date.parse(certificate.validTo),
  };
}

/** Several values of one attribute come as a list, which the types do not say. */
function valuesOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((entry) => typeof entry === "string");
}

/** The socket of an HTTP/2 session is a proxy of the real one, which `instanceof` does not see through. */
function isTls(socket: Socket): socket is TLSSocket {
  return "getPeerCertificate" in socket || Reflect.get(socket, "getPeerCertificate") !== undefined;
}

/** Clients of the API write their bodies as a whole, and Node.js reads them in pieces of kilobytes. */
const FAIR_BYTES = 256;
/** The rest of a body that was refused is of no use to anybody. */
const FAIR_DISCARDED_BYTES = 4096;
/** Programs write to each other line by line, and as fast as they can. */
const FAIR_PASSED_BYTES = 32;

/** Reads and throws away the body of a request that was answered without it. Nothing else counts what comes of it. */
export function discardBody(raw: IncomingMessage, lifetime: Lifetime): void {
  if (raw.complete || raw.destroyed || raw.listenerCount("data") > 0) return;
  let bytes = 0;
  raw.on("data", ({ length }: Buffer) => {
    bytes += length;
    lifetime.takeChunk(length, FAIR_DISCARDED_BYTES);
    if (bytes > MAX_DISCARDED_BYTES) raw.destroy();
  });
}

/** Bytes that a client may go on sending after its body was too long; they are read and thrown away. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

function readBody(raw: RawRequest, maxBytes: number, lifetime: Lifetime): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    if (raw.destroyed) return reject(new CodedError("body-aborted", "the body could not be read: the client left"));
    const collected = createByteCollector();
    let bytes = 0;
    let isRefused = false;
    let isComplete = false;
    const refuse = (error: Error) => {
      // The rest is read on, because a client that still sends would otherwise not see the answer.
      isRefused = true;
      collected.take();
      reject(error);
    };
    raw.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      const isFair = lifetime.takeChunk(chunk.length, isRefused ? FAIR_DISCARDED_BYTES : FAIR_BYTES);
      if (bytes > MAX_DISCARDED_BYTES) raw.destroy();
      else if (isRefused) return;
      else if (bytes > maxBytes) refuse(new CodedError("body-too-large", `the body is longer than ${maxBytes} bytes`));
      else if (!isFair) refuse(new CodedError("body-in-pieces", "the body comes in too many small pieces"));
      else {
        collected.add(chunk);
        lifetime.hold(chunk.length);
      }
    });
    raw.once("end", () => {
      isComplete = true;
      resolve(collected.take());
    });
    const abort = (error?: unknown) => {
      // Every request is closed at its end, so a close after a complete body is no failure.
      if (isComplete) return;
      const why = error === undefined ? "the client left" : messageOf(error);
      reject(new CodedError("body-aborted", `the body could not be read: ${why}`, { cause: error }));
    };
    raw.once("error", abort);
    raw.once("aborted", () => abort());
    raw.once("close", () => abort());
  });
}
