import { chmod, rm } from "node:fs/promises";
import { createServer as createPlainServer, type IncomingMessage } from "node:http";
import { createSecureServer as createHttp2Server } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import type { Server as NetServer, Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { CodedError, codeOf, messageOf } from "../../../base/errors.ts";
import { runInBackground } from "../../../base/tasks.ts";
import {
  HTTP_LIMITS,
  type HttpLimits,
  type HttpServerOptions,
  type ListenAddress,
  type ListenHttp,
  PORT_TAKEN,
  type ServingIdentity,
} from "../../http-server.ts";
import { createPieceBuffers } from "./piece-buffers.ts";
import { createSendQueue } from "./send-queue.ts";
import { cutOff, type Exchange, serveRequest, serveUpgrade } from "./serve-request.ts";
import { computeContextOptions } from "./server-context.ts";
import { trackConnections } from "./track-connections.ts";

/** The real `ListenHttp`, over `node:http`, `node:https` and `node:http2`. */
export const listenHttp: ListenHttp = async (options, handler) => {
  const limits = { ...HTTP_LIMITS, ...options.limits };
  const { server, secure, closeIdle } = createServer(options, limits);
  const connections = trackConnections(server, { limits, isSecure: secure !== undefined, takes: options.takes });
  const identities = followIdentity(secure, options);
  const means = {
    ...{ handler, options, limits, connections },
    sendQueue: createSendQueue(),
    pieceBuffers: createPieceBuffers(),
    takenOver: new Set<Promise<void>>(),
  };
  server.on("request", (...[raw, response]: Exchange) => {
    runInBackground(
      async () => await serveRequest(means, raw, response),
      () => cutOff(raw),
    );
  });
  server.on("upgrade", (raw: IncomingMessage, socket: Socket, head: Buffer) => {
    runInBackground(
      async () => await serveUpgrade(means, raw, { socket, head }),
      () => socket.destroy(),
    );
  });
  await listen(server, options.at);
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : 0,
    use(identity) {
      identities.use(identity);
      connections.retire();
      closeIdle();
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.close();
      await closed;
      await Promise.all(means.takenOver);
    },
  };
};

/**
 * TCP asks after this much quiet whether the peer is still there, because streams are quiet for hours. Go's listeners
 * do the same.
 */
const PROBE_IDLE_MS = 15_000;

interface MadeServer {
  readonly server: NetServer;
  /** The same server where it speaks TLS; undefined for plain HTTP. */
  readonly secure: TlsServer | undefined;
  /** Ends the connections of HTTP/1.1 that have no request. */
  closeIdle(): void;
}

function createServer({ tls, http2 = false }: HttpServerOptions, limits: HttpLimits): MadeServer {
  const tcp = { keepAlive: true, keepAliveInitialDelay: PROBE_IDLE_MS, noDelay: true };
  // A body that is passed on may take any time, and quiet connections are followed for all protocols alike.
  const http1 = {
    ...{ headersTimeout: limits.headersMs, requestTimeout: 0, keepAliveTimeout: 0 },
    ...{ connectionsCheckingInterval: limits.headersMs / 2, maxHeaderSize: limits.maxHeaderBytes },
  };
  if (tls === undefined) {
    const server = createPlainServer({ ...tcp, ...http1 });
    return { server, secure: undefined, closeIdle: () => server.closeIdleConnections() };
  }
  const greeting = {
    ...computeContextOptions(tls, tls.identity),
    requestCert: tls.asksForCertificate,
    // Some clients authenticate by token, so whether a certificate counts is decided request by request.
    rejectUnauthorized: false,
    handshakeTimeout: limits.greetingMs,
  };
  if (!http2) {
    const server = createHttpsServer({ ...tcp, ...http1, ...greeting, ALPNProtocols: ["http/1.1"] });
    return { server, secure: server, closeIdle: () => server.closeIdleConnections() };
  }
  const settings = { maxConcurrentStreams: limits.maxStrangersStreams, maxHeaderListSize: limits.maxHeaderBytes };
  const server = createHttp2Server({ ...tcp, ...greeting, allowHTTP1: true, settings });
  // The options of an HTTP/2 server do not have these fields, but the server itself does.
  Object.assign(server, http1);
  return { server, secure: server, closeIdle: () => undefined };
}

/** Changes the identity, and reports handshakes that failed. */
function followIdentity(
  secure: TlsServer | undefined,
  { tls, onBadConnection }: HttpServerOptions,
): { use(identity: ServingIdentity): void } {
  let current = tls?.identity;
  secure?.on("tlsClientError", (error, { remoteAddress = "" }) => {
    const reason = current?.pair === undefined ? "no serving certificate available for the kubelet" : messageOf(error);
    onBadConnection?.(`TLS handshake error: ${reason}`, remoteAddress);
  });
  return {
    use(identity) {
      if (secure === undefined || tls === undefined) throw new Error("a server of plain HTTP has no identity");
      secure.setSecureContext(computeContextOptions(tls, identity));
      current = identity;
    },
  };
}

async function listen(server: NetServer, at: ListenAddress): Promise<void> {
  if ("socketPath" in at) await rm(at.socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    // The listener stays as long as the server: a connection that could not be accepted is its client's trouble.
    server.on("error", (error) => reject(explain(at, error)));
    server.listen("socketPath" in at ? { path: at.socketPath } : { host: at.address, port: at.port }, resolve);
  });
  if ("socketPath" in at) await chmod(at.socketPath, 0o600);
}

function explain(at: ListenAddress, error: unknown): Error {
  const where = "socketPath" in at ? at.socketPath : `${at.address}:${at.port}`;
  const mend = codeOf(error) === "EADDRINUSE" ? `; ${PORT_TAKEN}: stop it or choose another port` : "";
  return new CodedError("listen-failed", `cannot listen on ${where}: ${messageOf(error)}${mend}`, { cause: error });
}
