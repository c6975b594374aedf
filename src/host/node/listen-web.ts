import type { IncomingMessage } from "node:http";
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import type {
  ListenWeb,
  WebAnswer,
  WebHandler,
  WebRequest,
  WebServer,
  WebServerOptions,
  WebWriter,
} from "../web-server.ts";

/** One client's streams on one connection: a node's agent watches hundreds of secrets and config maps. */
const MAX_CONCURRENT_STREAMS = 1000;
/** Only for parsing: requests name a path. */
const BASE_URL = "https://control-plane";

/** The real `ListenWeb`, over `node:http2` with HTTP/1.1 beside it. */
export const listenWeb: ListenWeb = async (options, handler) => {
  const server = createSecureServer({
    allowHTTP1: true,
    cert: options.certificatePem,
    key: options.keyPem,
    ca: options.clientAuthorityPem,
    requestCert: true,
    // Others authenticate by token: whether a certificate counts is told request by request.
    rejectUnauthorized: false,
    settings: { maxConcurrentStreams: MAX_CONCURRENT_STREAMS },
  });
  const connections = trackConnections(server);
  server.on("request", (request, response) => void serve(handler, request, response));
  await listen(server, options);
  return describe(server, connections);
};

function trackConnections(server: Http2SecureServer): { close(): void } {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  server.on("secureConnection", (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // A connection that breaks takes only its own streams along, and those tell their owners.
    session.on("error", () => session.destroy());
  });
  server.on("sessionError", () => undefined);
  server.on("tlsClientError", () => undefined);
  return {
    close() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listen(server: Http2SecureServer, options: WebServerOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.on("error", (error) => reject(explain(options, error)));
    server.listen({ host: options.address, port: options.port }, resolve);
  });
}

function explain({ address, port }: WebServerOptions, error: unknown): Error {
  const mend = codeOf(error) === "EADDRINUSE" ? "; another process listens there: stop it or choose another port" : "";
  const message = `cannot listen on ${address}:${port}: ${messageOf(error)}${mend}`;
  return new CodedError("listen-failed", message, { cause: error });
}

function describe(server: Http2SecureServer, connections: { close(): void }): WebServer {
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : 0,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.close();
      await closed;
    },
  };
}

async function serve(handler: WebHandler, raw: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.on("error", () => gone.abort());
  raw.on("error", () => gone.abort());
  const target = raw.url;
  if (!URL.canParse(target, BASE_URL) || !target.startsWith("/") || target.startsWith("//")) {
    response.writeHead(400, { "content-type": "text/plain; charset=utf-8" });
    response.end("400 bad request\n");
    return;
  }
  try {
    const answer = await handler(describeRequest(raw, new URL(target, BASE_URL), gone.signal));
    if (!gone.signal.aborted) send(answer, raw, response, gone);
  } catch (error) {
    if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
    response.end(`${messageOf(error)}\n`);
  }
}

function describeRequest(raw: Http2ServerRequest, url: URL, signal: AbortSignal): WebRequest {
  return {
    method: raw.method,
    path: url.pathname,
    query: url.searchParams,
    header: (name) => headerValues(raw, name),
    headersBeginning: (prefix) => {
      const names = Object.keys(raw.headers).filter((name) => name.startsWith(prefix));
      return Object.fromEntries(names.map((name) => [name, headerValues(raw, name)]));
    },
    peer: peerOf(socketOf(raw)),
    remoteAddress: socketOf(raw)?.remoteAddress ?? "",
    signal,
    readBody: (maxBytes) => readBody(raw, maxBytes),
  };
}

/** Repeated headers stay apart: `Impersonate-Group` is one for each group. */
function headerValues(raw: Http2ServerRequest, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < raw.rawHeaders.length; index += 2) {
    if (raw.rawHeaders[index]?.toLowerCase() === name) values.push(raw.rawHeaders[index + 1] ?? "");
  }
  return values;
}

/** HTTP/1.1 requests come through the same event, with a socket of their own. */
function socketOf(raw: Http2ServerRequest | IncomingMessage): Socket | undefined {
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
  const { subject } = socket.getPeerCertificate();
  // Several organizations come as a list, which the types do not say.
  const organizations: unknown = subject?.O ?? [];
  const list = Array.isArray(organizations) ? organizations.map(String) : [String(organizations)];
  return { commonName: String(subject?.CN ?? ""), organizations: list };
}

/** The socket of an HTTP/2 session is a proxy of the real one, which `instanceof` does not see through. */
function isTls(socket: Socket): socket is TLSSocket {
  return "getPeerCertificate" in socket || Reflect.get(socket, "getPeerCertificate") !== undefined;
}

/** What a client goes on sending after it was told that it is too much is thrown away, up to here. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

function readBody(raw: Http2ServerRequest, maxBytes: number): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    raw.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else if (chunks.length > 0) {
        // Read on: a client that still sends would not see the answer.
        chunks = [];
        reject(new CodedError("body-too-large", `the body is longer than ${maxBytes} bytes`));
      } else if (bytes > MAX_DISCARDED_BYTES) raw.destroy();
    });
    raw.once("end", () => {
      const [only] = chunks;
      resolve(chunks.length === 1 && only ? only : Buffer.concat(chunks));
    });
    const abort = (error?: unknown) => {
      const why = error === undefined ? "the client left" : messageOf(error);
      reject(new CodedError("body-aborted", `the body could not be read: ${why}`, { cause: error }));
    };
    raw.once("error", abort);
    raw.once("aborted", () => abort());
    raw.once("close", () => abort());
  });
}

function send(answer: WebAnswer, raw: Http2ServerRequest, response: Http2ServerResponse, gone: AbortController): void {
  for (const [name, value] of Object.entries(answer.headers)) {
    response.setHeader(name, typeof value === "string" ? value : [...value]);
  }
  response.writeHead(answer.status);
  const { body } = answer;
  if (typeof body === "string" || Buffer.isBuffer(body)) {
    response.end(raw.method === "HEAD" ? "" : body);
  } else if ("stream" in body) {
    // HTTP/1.1 would hold the status back until the first event, and clients wait for it.
    if ("flushHeaders" in response && typeof response.flushHeaders === "function") response.flushHeaders();
    body.stream(createWriter(response, gone));
  } else {
    for (const chunk of body) response.write(chunk);
    response.end();
  }
}

function createWriter(response: Http2ServerResponse, gone: AbortController): WebWriter {
  return {
    signal: gone.signal,
    write(chunk) {
      if (!gone.signal.aborted) response.write(chunk);
    },
    get bufferedBytes() {
      return response.writableLength ?? 0;
    },
    end() {
      if (!gone.signal.aborted) response.end();
    },
  };
}
