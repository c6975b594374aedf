import { constants } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import { type SecureContextOptions, TLSSocket } from "node:tls";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import type {
  ListenSecure,
  SecureHandler,
  SecurePeer,
  SecureRequest,
  SecureResponse,
  SecureServer,
  SecureServerOptions,
  ServingIdentity,
} from "../secure-server.ts";

/** Whoever connects shows that it means it: within this time TLS is agreed on, and within the same time headers come. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How often the two above are looked at. */
const CHECK_INTERVAL_MS = 2_000;
/** As the Go kubelet's, which is as long as Go's clients keep an idle connection. */
const IDLE_TIMEOUT_MS = 90_000;
/** Many times the largest token. */
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 256;

/** The real `ListenSecure`, over `node:https`. */
export const listenSecure: ListenSecure = async (options, identity, on) => {
  const server = createServer({
    ...contextOf(options, identity),
    requestCert: options.asksForCertificate,
    // Others authenticate by token: whether a certificate counts is told request by request.
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  server.maxConnections = MAX_CONNECTIONS;
  const sockets = trackSockets(server);
  // Of the identity: a connection was judged by the one that held when it was made.
  const state = { identity, generation: 0 };
  const generations = new WeakMap<object, number>();
  server.on("secureConnection", (socket: TLSSocket) => generations.set(socket, state.generation));
  server.on("request", (request, response) => {
    const isStale = generations.get(request.socket) !== state.generation;
    void answer(on.request, { request, response, isStale });
  });
  server.on("tlsClientError", (error, socket) => {
    const reason =
      state.identity.pair === undefined ? "no serving certificate available for the kubelet" : messageOf(error);
    on.badConnection(`TLS handshake error: ${reason}`, socket.remoteAddress ?? "");
  });
  await listen(server, options);
  return describe({ server, sockets, use });

  function use(next: ServingIdentity): void {
    server.setSecureContext(contextOf(options, next));
    state.identity = next;
    state.generation++;
    server.closeIdleConnections();
  }
};

function contextOf(options: SecureServerOptions, { pair, clientAuthorityPem }: ServingIdentity): SecureContextOptions {
  // Without authorities of its own TLS would believe those of the whole web.
  if (options.asksForCertificate && clientAuthorityPem === undefined) {
    throw new CodedError("no-authority", "client certificates are asked for, and there is no authority to judge them");
  }
  return {
    ...(pair && { cert: pair.certificatePem, key: pair.keyPem }),
    ...(clientAuthorityPem !== undefined && { ca: clientAuthorityPem }),
    // As in Go, whatever is in the file is believed, also an intermediate without its root.
    allowPartialTrustChain: true,
    minVersion: options.minVersion,
    ...(options.ciphers !== undefined && { ciphers: options.ciphers }),
    ...(options.curves !== undefined && { ecdhCurve: options.curves }),
    // A session that is resumed would keep the judgement of authorities that have been replaced.
    secureOptions: constants.SSL_OP_NO_TICKET,
    sessionTimeout: 1,
  };
}

/** Every connection, those in a handshake too. */
function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

async function listen(server: Server, { address, port }: SecureServerOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    // For as long as it listens: a connection that could not be accepted is its client's trouble.
    server.on("error", (error) => {
      const isTaken = codeOf(error) === "EADDRINUSE";
      const mend = isTaken ? "; another process listens there: stop it or choose another port" : "";
      const message = `cannot listen on ${address}:${port}: ${messageOf(error)}${mend}`;
      reject(new CodedError("listen-failed", message, { cause: error }));
    });
    server.listen({ host: address, port }, resolve);
  });
}

function describe({
  server,
  sockets,
  use,
}: Pick<SecureServer, "use"> & { server: Server; sockets: ReadonlySet<Socket> }): SecureServer {
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : 0,
    use,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The connection is of an identity that has been replaced. */
  readonly isStale: boolean;
}

async function answer(handler: SecureHandler, { request, response, isStale }: Exchange): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const described = describeRequest(request, gone.signal);
  let answered: SecureResponse = { status: 400, body: "400 Bad Request\n", closes: true };
  try {
    if (described !== undefined) answered = await handler(described);
  } catch (error) {
    answered = { status: 500, body: `${messageOf(error)}\n` };
  }
  if (response.destroyed) return;
  response.writeHead(answered.status, {
    "content-type": answered.contentType ?? "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(answered.body),
    "x-content-type-options": "nosniff",
    // What a body is sent for is not read.
    ...((isStale || answered.closes === true || hasBody(request)) && { connection: "close" }),
  });
  response.end(request.method === "HEAD" ? undefined : answered.body);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/** Undefined when the request's target is no path. */
function describeRequest(raw: IncomingMessage, signal: AbortSignal): SecureRequest | undefined {
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
    signal,
  };
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
