import type { IncomingMessage } from "node:http";
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import type { Socket } from "node:net";
import { CodedError, codeOf, messageOf } from "../../../base/errors.ts";
import {
  type ListenWeb,
  WEB_LIMITS,
  type WebHandler,
  type WebServer,
  type WebServerOptions,
} from "../../web-server.ts";
import { createPieceBuffers, type PieceBuffers } from "./piece-buffers.ts";
import { createSendQueue, type SendQueue } from "./send-queue.ts";
import { type AnswerResponse, sendAnswer } from "./web-answer.ts";
import { trackConnections, type WebConnections } from "./web-connections.ts";
import { describeRequest, Lifetime } from "./web-request.ts";
import { abandon, hasSentBody, serveUpgrade } from "./web-upgrade.ts";

/** The real `ListenWeb`, over `node:http2` with HTTP/1.1 beside it. */
export const listenWeb: ListenWeb = async (options, handler) => {
  const limits = { ...WEB_LIMITS, ...options.limits };
  const server = createSecureServer({
    allowHTTP1: true,
    cert: options.certificatePem,
    key: options.keyPem,
    ca: options.clientAuthorityPem,
    requestCert: true,
    // Others authenticate by token: whether a certificate counts is told request by request.
    rejectUnauthorized: false,
    handshakeTimeout: limits.greetingMs,
    settings: { maxConcurrentStreams: limits.maxStreams, maxHeaderListSize: limits.maxHeaderBytes },
  });
  // HTTP/1.1's, which Node.js looks after once it is told; the options of an HTTP/2 server do not have them. How long a
  // body may take is known to whoever reads it: one that is passed on takes as long as it takes.
  Object.assign(server, {
    headersTimeout: limits.headersMs,
    requestTimeout: 0,
    connectionsCheckingInterval: limits.headersMs / 2,
    maxHeaderSize: limits.maxHeaderBytes,
  });
  const connections = trackConnections(server, limits);
  const { maxHeaderBytes } = limits;
  const means = {
    maxHeaderBytes,
    connections,
    handler,
    sendQueue: createSendQueue(),
    pieceBuffers: createPieceBuffers(),
  };
  server.on("request", (request, response) => void serve(means, request, response));
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    void serveUpgrade(means, request, { socket, head });
  });
  await listen(server, options);
  return describe(server, connections);
};

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

function describe(server: Http2SecureServer, connections: WebConnections): WebServer {
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

interface Means {
  maxHeaderBytes: number;
  handler: WebHandler;
  connections: WebConnections;
  sendQueue: SendQueue;
  pieceBuffers: PieceBuffers;
}

async function serve(
  { handler, connections, maxHeaderBytes, ...means }: Means,
  raw: Http2ServerRequest,
  response: Http2ServerResponse,
): Promise<void> {
  const lifetime = new Lifetime(() => cutOff(raw));
  connections.begin(raw, lifetime);
  const end = () => lifetime.end();
  response.once("close", end);
  response.on("error", end);
  raw.on("error", end);
  // An HTTP/2 client that has not taken note of the limit yet, or never will, is bound by none but this.
  if (raw.stream !== undefined && headerBytesOf(raw) > maxHeaderBytes) {
    refuse(response, 431, "431 request header fields too large\n");
    return;
  }
  const request = describeRequest(raw, lifetime);
  if (request === undefined) {
    refuse(response, 400, "400 bad request\n");
    return;
  }
  try {
    const answer = await handler(request);
    if (!lifetime.isOver && hasSentBody(answer)) {
      sendAnswer(answer, { method: request.method, response, lifetime, ...means });
    } else abandon(answer, lifetime);
  } catch (error) {
    if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
    response.end(`${messageOf(error)}\n`);
  }
}

function refuse(response: AnswerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  response.end(text);
}

const headerBytesOf = ({ rawHeaders }: Http2ServerRequest) => rawHeaders.reduce((sum, { length }) => sum + length, 0);

/** Over HTTP/2 the stream, over HTTP/1.1 the connection, which has no other request. */
function cutOff(raw: Http2ServerRequest): void {
  if (raw.stream === undefined) raw.socket.destroy();
  else raw.stream.close(constants.NGHTTP2_CANCEL);
}
