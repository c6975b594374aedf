import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { Socket } from "node:net";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import type { ListenWeb, WebHandler, WebServer, WebServerOptions } from "../web-server.ts";
import { createPieceBuffers, type PieceBuffers } from "./piece-buffers.ts";
import { createSendQueue, type SendQueue } from "./send-queue.ts";
import { sendAnswer } from "./web-answer.ts";
import { describeRequest, Lifetime } from "./web-request.ts";

/** One client's streams on one connection: a node's agent watches hundreds of secrets and config maps. */
const MAX_CONCURRENT_STREAMS = 1000;

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
  const means = { handler, sendQueue: createSendQueue(), pieceBuffers: createPieceBuffers() };
  server.on("request", (request, response) => void serve(means, request, response));
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

async function serve(
  { handler, ...means }: { handler: WebHandler; sendQueue: SendQueue; pieceBuffers: PieceBuffers },
  raw: Http2ServerRequest,
  response: Http2ServerResponse,
): Promise<void> {
  const lifetime = new Lifetime();
  const end = () => lifetime.end();
  response.once("close", end);
  response.on("error", end);
  raw.on("error", end);
  const request = describeRequest(raw, lifetime);
  if (request === undefined) {
    response.writeHead(400, { "content-type": "text/plain; charset=utf-8" });
    response.end("400 bad request\n");
    return;
  }
  try {
    const answer = await handler(request);
    if (!lifetime.isOver) sendAnswer(answer, { method: request.method, response, lifetime, ...means });
  } catch (error) {
    if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
    response.end(`${messageOf(error)}\n`);
  }
}
