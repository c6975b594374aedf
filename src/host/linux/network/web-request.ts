import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import { CodedError, messageOf } from "../../../base/errors.ts";
import type { WebRequest } from "../../web-server.ts";

/** Until an answer is over: sent, or of no use to a client that has gone. A class, because every request makes one. */
export class Lifetime {
  readonly #cutOff: () => void;
  #controller: AbortController | undefined;
  #isOver = false;
  #onEnd: (() => void) | undefined;
  #waitsSince: number | undefined;

  /** `cutOff` ends the exchange without an answer. */
  constructor(cutOff: () => void) {
    this.#cutOff = cutOff;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Made for those who ask: most requests end without anybody having looked. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  /** One listener, called once. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  /** The client is to do something, and nothing goes on before it does. */
  waitForClient(): void {
    this.#waitsSince = performance.now();
  }

  /** It did. */
  clientCame(): void {
    this.#waitsSince = undefined;
  }

  /** How long the client has been waited for; 0 while it is not. */
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
    this.#onEnd?.();
    this.#controller?.abort();
  }
}

/** HTTP/1.1 requests come through the same event as those of HTTP/2, and by themselves when they ask for an upgrade. */
export type RawRequest = Http2ServerRequest | IncomingMessage;

/** Undefined when the request's target is no path. */
export function describeRequest(raw: RawRequest, lifetime: Lifetime): WebRequest | undefined {
  const target = raw.url ?? "";
  return !target.startsWith("/") || target.startsWith("//") ? undefined : new ReceivedRequest(raw, lifetime);
}

class ReceivedRequest implements WebRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly rawQuery: string;
  readonly peer: Peer;
  readonly remoteAddress: string;
  readonly isUpgrade: boolean;
  readonly #raw: RawRequest;
  readonly #lifetime: Lifetime;
  #headers: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(raw: RawRequest, lifetime: Lifetime) {
    const target = raw.url ?? "";
    const queryAt = target.indexOf("?");
    const socket = socketOf(raw);
    this.method = raw.method ?? "";
    this.path = queryAt === -1 ? target : target.slice(0, queryAt);
    this.rawQuery = queryAt === -1 ? "" : target.slice(queryAt + 1);
    this.query = new URLSearchParams(this.rawQuery);
    this.peer = peerOf(socket);
    this.remoteAddress = socket?.remoteAddress ?? "";
    this.isUpgrade = "upgrade" in raw && raw.upgrade === true;
    this.#raw = raw;
    this.#lifetime = lifetime;
  }

  get signal(): AbortSignal {
    return this.#lifetime.signal;
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
      return await readBody(this.#raw, maxBytes);
    } finally {
      this.#lifetime.clientCame();
    }
  }

  bodyStream(): Readable | undefined {
    return hasBody(this.#raw) ? this.#raw : undefined;
  }
}

/** HTTP/2 says with the headers that nothing follows them; HTTP/1.1 says with them that something does. */
export function hasBody(raw: RawRequest): boolean {
  if ("stream" in raw && raw.stream !== undefined) return !raw.stream.endAfterHeaders;
  return raw.headers["transfer-encoding"] !== undefined || (raw.headers["content-length"] ?? "0") !== "0";
}

/** By their lower-case names. Repeated headers stay apart: `Impersonate-Group` is one for each group. */
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

/** HTTP/1.1 requests have a socket of their own. */
function socketOf(raw: RawRequest): Socket | undefined {
  if ("stream" in raw && raw.stream !== undefined) return raw.stream.session?.socket;
  return raw.socket;
}

type Peer = WebRequest["peer"];
const peers = new WeakMap<object, { peer: Peer }>();

function peerOf(socket: Socket | undefined): Peer {
  if (socket === undefined) return undefined;
  const known = peers.get(socket);
  if (known) return known.peer;
  const peer = readPeer(socket);
  peers.set(socket, { peer });
  return peer;
}

function readPeer(socket: Socket): Peer {
  if (!isTls(socket) || !socket.authorized) return undefined;
  // A session that is resumed counts as authorized even when nobody showed a certificate: then there is no subject.
  const { subject, fingerprint256 } = socket.getPeerCertificate();
  if (subject?.CN === undefined) return undefined;
  // Several organizations come as a list, which the types do not say.
  const organizations: unknown = subject.O ?? [];
  const list = Array.isArray(organizations) ? organizations.map(String) : [String(organizations)];
  const fingerprint = fingerprint256.replaceAll(":", "").toLowerCase();
  return { commonName: String(subject.CN), organizations: list, fingerprint };
}

/** The socket of an HTTP/2 session is a proxy of the real one, which `instanceof` does not see through. */
function isTls(socket: Socket): socket is TLSSocket {
  return "getPeerCertificate" in socket || Reflect.get(socket, "getPeerCertificate") !== undefined;
}

/** What a client goes on sending after it was told that it is too much is thrown away, up to here. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

function readBody(raw: RawRequest, maxBytes: number): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    if (raw.destroyed) return reject(new CodedError("body-aborted", "the body could not be read: the client left"));
    let chunks: Buffer[] = [];
    let bytes = 0;
    let isTooLong = false;
    let isComplete = false;
    raw.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else if (bytes > MAX_DISCARDED_BYTES) raw.destroy();
      else if (!isTooLong) {
        // Read on: a client that still sends would not see the answer.
        isTooLong = true;
        chunks = [];
        reject(new CodedError("body-too-large", `the body is longer than ${maxBytes} bytes`));
      }
    });
    raw.once("end", () => {
      isComplete = true;
      const [only] = chunks;
      resolve(chunks.length === 1 && only ? only : Buffer.concat(chunks));
    });
    const abort = (error?: unknown) => {
      // Every request is closed at its end.
      if (isComplete) return;
      const why = error === undefined ? "the client left" : messageOf(error);
      reject(new CodedError("body-aborted", `the body could not be read: ${why}`, { cause: error }));
    };
    raw.once("error", abort);
    raw.once("aborted", () => abort());
    raw.once("close", () => abort());
  });
}
