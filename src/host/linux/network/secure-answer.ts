import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { untilAborted } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type {
  SecureAnswer,
  SecureHandler,
  SecurePeer,
  SecureRequest,
  SecureResponse,
  StreamedAnswer,
} from "../../secure-server.ts";

/** One request and what it is answered with. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The connection is of an identity that has been replaced. */
  readonly isStale: boolean;
  /** The connection without HTTP, where the client asked for another protocol. */
  readonly upgrade?: Duplex;
}

const BAD_REQUEST: SecureResponse = { status: 400, body: "400 Bad Request\n", closes: true };

/** Has the request answered. Never rejects; resolves when the answer is on its way, or what was taken over has ended. */
export async function answerRequest(handler: SecureHandler, exchange: Exchange): Promise<void> {
  const { response, upgrade } = exchange;
  const gone = new AbortController();
  const leave = () => gone.abort();
  // The response of a connection that is taken over never closes. Who ends it before an answer has no use for one.
  if (upgrade === undefined) response.once("close", leave);
  else upgrade.once("close", leave).once("end", leave);
  // What follows such a head might be the body or the other protocol: two readers could disagree.
  const isAmbiguous = upgrade !== undefined && hasBody(exchange.request);
  const answered = isAmbiguous ? BAD_REQUEST : await judge(handler, describeRequest(exchange, gone.signal));
  upgrade?.off("end", leave);
  if ("takeOver" in answered) {
    await handOver(exchange, answered);
    return;
  }
  if (response.destroyed || gone.signal.aborted) {
    upgrade?.destroy();
    return;
  }
  if (upgrade !== undefined) carryBy(upgrade, response);
  if ("stream" in answered) await sendStream(exchange, answered, gone.signal);
  else send(exchange, answered);
}

async function judge(handler: SecureHandler, request: SecureRequest | undefined): Promise<SecureAnswer> {
  if (request === undefined) return BAD_REQUEST;
  try {
    return await handler(request);
  } catch (error) {
    return { status: 500, body: `${messageOf(error)}\n` };
  }
}

async function handOver({ request, upgrade }: Exchange, { takeOver }: { takeOver(socket: Duplex): Promise<void> }) {
  try {
    if (upgrade !== undefined) await takeOver(upgrade);
  } catch {
    // Whoever took it over could tell nobody but the client, who learns it from the end of the connection.
  } finally {
    (upgrade ?? request.socket).destroy();
  }
}

/** The client asked for another protocol and gets an answer in this one, the last of the connection. */
function carryBy(socket: Duplex, response: ServerResponse): void {
  if (!(socket instanceof TLSSocket)) throw new Error("a connection of this server is one of TLS");
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.destroySoon());
  socket.once("close", () => response.destroy());
}

function send(exchange: Exchange, answered: SecureResponse): void {
  const { request, response } = exchange;
  response.writeHead(answered.status, {
    ...headOf(exchange, answered),
    ...answered.headers,
    "content-length": Buffer.byteLength(answered.body),
    ...(answered.closes === true && { connection: "close" }),
  });
  response.end(request.method === "HEAD" ? undefined : answered.body);
}

async function sendStream(exchange: Exchange, answered: StreamedAnswer, signal: AbortSignal): Promise<void> {
  const { request, response } = exchange;
  response.writeHead(answered.status, { ...headOf(exchange, answered), ...answered.headers });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  response.flushHeaders();
  try {
    await answered.stream({ signal, write: async (chunk) => await write(response, chunk, signal) });
    response.end();
  } catch {
    breakOff(response);
  }
}

/** For a client to take what is on its way, before its connection is destroyed. */
const FLUSH_TIMEOUT_MS = 10_000;

/** The client gets what was written, and no end of it. */
function breakOff(response: ServerResponse): void {
  const { socket } = response;
  if (socket === null) {
    response.destroy();
    return;
  }
  socket.setTimeout(FLUSH_TIMEOUT_MS, () => socket.destroy());
  socket.destroySoon();
}

async function write(response: ServerResponse, chunk: Buffer, signal: AbortSignal): Promise<void> {
  if (!signal.aborted && response.write(chunk)) return;
  let settle = () => {};
  const drained = new Promise<void>((resolve) => {
    settle = resolve;
  });
  response.once("drain", settle);
  try {
    await untilAborted(drained, signal);
  } finally {
    response.off("drain", settle);
  }
}

function headOf({ request, isStale }: Exchange, { contentType }: { readonly contentType?: string }) {
  return {
    "content-type": contentType ?? "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    // What a body is sent for is not read.
    ...((isStale || hasBody(request)) && { connection: "close" }),
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/** Undefined when the request's target is no path. */
function describeRequest({ request: raw, upgrade }: Exchange, signal: AbortSignal): SecureRequest | undefined {
  const { url: target = "", socket } = raw;
  if (!target.startsWith("/")) return undefined;
  const queryAt = target.indexOf("?");
  const path = decodePath(queryAt === -1 ? target : target.slice(0, queryAt));
  if (path === undefined) return undefined;
  return {
    method: raw.method ?? "GET",
    path,
    query: new URLSearchParams(queryAt === -1 ? "" : target.slice(queryAt + 1)),
    authorization: raw.headers.authorization,
    peer: socket instanceof TLSSocket ? readPeer(socket) : undefined,
    remoteAddress: socket.remoteAddress ?? "",
    header: (name) => raw.headersDistinct[name.toLowerCase()]?.[0],
    headers: () => readHeaders(raw),
    isUpgrade: upgrade !== undefined,
    signal,
  };
}

function readHeaders({ headersDistinct }: IncomingMessage): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headersDistinct).map(([name, values = []]) => [name, values]));
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function readPeer(socket: TLSSocket): SecurePeer | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  if (!socket.authorized) return { kind: "unverified", reason: String(socket.authorizationError) };
  const { subject } = certificate.toLegacyObject();
  return {
    kind: "verified",
    commonName: valuesOf(subject?.CN)[0] ?? "",
    organizations: valuesOf(subject?.O),
    fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
    notAfter: Date.parse(certificate.validTo),
  };
}

/** Several of one attribute come as a list, which the types do not say. */
function valuesOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((entry) => typeof entry === "string");
}
