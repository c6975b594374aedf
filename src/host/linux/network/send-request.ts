import { type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { AbortedError, throwIfAborted } from "../../../base/abort.ts";
import { createByteCollector } from "../../../base/byte-collector.ts";
import type { WebServer } from "../../web-call.ts";
import { limitConnecting } from "./dial.ts";

/** One request over HTTP/1.1, on a connection of its own that no other request uses. */
export interface OutgoingRequest {
  readonly to: RequestAddress;
  readonly method: string;
  /** The path with its query; sent as it is. */
  readonly path: string;
  /**
   * Headers by lower-case names, or names and values in turn, which are sent line by line in this order. `host` is the
   * address unless it is among them.
   */
  readonly headers: Readonly<Record<string, string | readonly string[]>> | readonly string[];
  /** The body is sent in chunks unless the headers say how long it is. Default: none. */
  readonly body?: Readable | undefined;
  /** A user's name and password, for an `authorization` header of the Basic scheme. */
  readonly auth?: string | undefined;
  /** How TLS is spoken, for a server that is asked over https. */
  readonly tls?: RequestTls | undefined;
  /** How long the connection may take, TLS included. Default: no limit. */
  readonly connectTimeoutMs?: number;
  /** The end of one direction leaves the other open. Default false. */
  readonly allowHalfOpen?: boolean;
  /** Accepts what Go's client accepts: lines that end in a bare LF, and a head of up to a mebibyte. Default false. */
  readonly isLenient?: boolean;
}

/** The server that a request is sent to. Hosts are names or addresses, without brackets. */
export type RequestAddress = WebServer | { readonly socketPath: string };

interface RequestTls {
  /** The own certificate and key, and the authorities that are believed, in PEM. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly ca?: string | undefined;
  /** Default true. */
  readonly rejectUnauthorized?: boolean | undefined;
  /** Default: the host of the header `host`. */
  readonly servername?: string | undefined;
}

/** The outcome of a request. The body of an answer must be read or destroyed, and so must a socket. */
export type Reply =
  | { readonly kind: "answered"; readonly status: number; readonly message: IncomingMessage }
  | { readonly kind: "upgraded"; readonly message: IncomingMessage; readonly socket: Duplex };

/** What is written without waiting for further chunks. */
const WRITTEN_AT_ONCE_BYTES = 64 * 1024;
/** TCP notices a peer that has gone without a word after this much quiet, as with Go's dialer. */
const KEEP_ALIVE_MS = 15_000;
const MAX_LENIENT_HEAD_BYTES = 1024 * 1024;

/**
 * Resolves when the head of the answer is there; interim answers are skipped. Redirects are answers. Rejects with
 * `AbortedError` when the signal has fired, and else with the error of Node.js. The signal also breaks the body of an
 * answer, but not a socket that was handed over.
 */
export async function sendRequest(outgoing: OutgoingRequest, signal: AbortSignal): Promise<Reply> {
  throwIfAborted(signal);
  return await new Promise<Reply>((resolve, reject) => {
    const request = begin(outgoing);
    const onAbort = () => request.destroy(new AbortedError());
    signal.addEventListener("abort", onAbort, { once: true });
    request.once("close", () => signal.removeEventListener("abort", onAbort));
    // The listener stays for good, because a connection can break after the head has come. The reader of the body is
    // then told.
    request.on("error", (error) => reject(signal.aborted ? new AbortedError() : error));
    request.once("upgrade", (message: IncomingMessage, socket: Duplex, head: Buffer) => {
      signal.removeEventListener("abort", onAbort);
      // HTTP has let go of the socket, and an error without a listener ends this process.
      socket.on("error", () => socket.destroy());
      if (head.length > 0) socket.unshift(head);
      resolve({ kind: "upgraded", message, socket });
    });
    request.once("response", (message: IncomingMessage) => {
      // The body may break before it is read.
      message.on("error", () => undefined);
      resolve({ kind: "answered", status: message.statusCode ?? 0, message });
    });
    if (outgoing.body === undefined) request.end();
    else sendBody(outgoing.body, request);
  });
}

function begin({ to, tls = {}, headers, ...outgoing }: OutgoingRequest): ClientRequest {
  const { method, path, auth, connectTimeoutMs, allowHalfOpen = false, isLenient = false } = outgoing;
  const options = {
    ...("socketPath" in to ? { socketPath: to.socketPath } : placeOf(to)),
    method,
    path,
    headers: Array.isArray(headers) ? headers : headerValues(headers),
    agent: false,
    allowHalfOpen,
    ...(auth !== undefined && { auth }),
    ...(isLenient && { insecureHTTPParser: true, maxHeaderSize: MAX_LENIENT_HEAD_BYTES }),
  };
  const isSecure = "scheme" in to && to.scheme === "https";
  const request = isSecure ? requestSecure({ ...options, ...tls }) : requestPlain(options);
  if (connectTimeoutMs !== undefined) limitConnecting(request, connectTimeoutMs);
  request.setSocketKeepAlive(true, KEEP_ALIVE_MS);
  request.setNoDelay(true);
  return request;
}

/** The name stays, for the header `host` and for TLS, also where the addresses are known. */
function placeOf({ host, port, addresses }: WebServer) {
  return { host, port, ...(addresses !== undefined && { lookup: lookUpIn(addresses) }) };
}

/** Finds every name at these addresses. Node.js looks no address up, so that an address as host leads to itself. */
function lookUpIn(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (host, { all = false }, done) => {
    const [first] = found;
    if (first === undefined) done(Object.assign(new Error(`no address of ${host}`), { code: "ENOTFOUND" }), []);
    else if (all) done(null, found);
    else done(null, first.address, first.family);
  };
}

function headerValues(headers: OutgoingRequest["headers"]): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const [first, ...others] = [value].flat();
      if (first === undefined) return [];
      // `host` can only be sent once, and Node.js takes no list for such a header, not even a list of one value.
      return [[name, others.length === 0 ? first : [first, ...others]]];
    }),
  );
}

/**
 * A server may answer before it has read everything. The rest of the body is thrown away, and its sender gets the
 * answer. Chunks that come at once are written as one, because a write takes as long as tens of kilobytes.
 */
function sendBody(body: Readable, request: ClientRequest): void {
  body.once("error", (error) => request.destroy(error));
  body.once("close", () => {
    if (!body.readableEnded) request.destroy(new Error("unexpected EOF"));
  });
  let isOver = false;
  request.once("close", () => {
    isOver = true;
    body.resume();
  });
  const collected = createByteCollector();
  const write = () => {
    if (collected.length > 0 && !isOver && !request.write(collected.take())) body.pause();
  };
  body.on("data", (chunk: Buffer) => {
    if (isOver) return;
    if (collected.length === 0) setImmediate(write);
    collected.add(chunk);
    if (collected.length >= WRITTEN_AT_ONCE_BYTES) write();
  });
  request.on("drain", () => body.resume());
  body.once("end", () => {
    write();
    if (!isOver) request.end();
  });
}
