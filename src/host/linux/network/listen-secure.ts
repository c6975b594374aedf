import { constants } from "node:crypto";
import { type IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions, TLSSocket } from "node:tls";
import { CodedError, codeOf, messageOf } from "../../../base/errors.ts";
import type { ListenSecure, SecureServer, SecureServerOptions, ServingIdentity } from "../../secure-server.ts";
import { answerRequest } from "./secure-answer.ts";

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
const MAX_CONNECTIONS = 1_024;
/** After this much quiet TCP asks whether the peer is still there: streams are quiet for hours. As Go's listeners. */
const PROBE_IDLE_MS = 15_000;

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
    // Of connections that are given away; of the others HTTP ends both ways itself.
    allowHalfOpen: true,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_IDLE_MS,
    noDelay: true,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  server.maxConnections = MAX_CONNECTIONS;
  const sockets = trackSockets(server);
  // Of the identity: a connection was judged by the one that held when it was made.
  const state = { identity, generation: 0 };
  const generations = new WeakMap<object, number>();
  server.on("secureConnection", (socket: TLSSocket) => generations.set(socket, state.generation));
  const takenOver = new Set<Promise<void>>();
  const isStale = (socket: object) => generations.get(socket) !== state.generation;
  server.on("request", (request, response) => {
    void answerRequest(on.request, { request, response, isStale: isStale(request.socket) });
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // HTTP has let go of it, and an error that nobody hears ends the process.
    socket.on("error", () => socket.destroy());
    if (head.length > 0) socket.unshift(head);
    const exchange = { request, response: new ServerResponse(request), isStale: isStale(socket), upgrade: socket };
    const over = answerRequest(on.request, exchange).finally(() => takenOver.delete(over));
    takenOver.add(over);
  });
  server.on("tlsClientError", (error, socket) => {
    const reason =
      state.identity.pair === undefined ? "no serving certificate available for the kubelet" : messageOf(error);
    on.badConnection(`TLS handshake error: ${reason}`, socket.remoteAddress ?? "");
  });
  await listen(server, options);
  return describe({ server, sockets, takenOver, use });

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
  takenOver,
  use,
}: Pick<SecureServer, "use"> & {
  server: Server;
  sockets: ReadonlySet<Socket>;
  takenOver: ReadonlySet<Promise<void>>;
}): SecureServer {
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : 0,
    use,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
      await Promise.all(takenOver);
    },
  };
}
