import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type Settings,
} from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import type { Server, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ClusterCertificates } from "../../../src/pki/cluster-certificates.ts";
import { createCertificates } from "../../../src/testing/cluster-credentials.ts";

/** What a request and its answer look like, of either version of HTTP. */
interface SmallRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly httpVersion: string;
  readonly body: string;
  /** The name of the client's certificate. */
  readonly peer: string | undefined;
  /** Counts connections, from 1. */
  readonly connection: number;
}

export type SmallResponse = Http2ServerResponse | ServerResponse;
export type Handler = (request: SmallRequest, response: SmallResponse) => void;

/** An API server that does nothing but what a case tells it to. */
export interface SmallServer {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly SmallRequest[];
  /** The HTTP/2 sessions, in the order in which they began. */
  readonly sessions: readonly ServerHttp2Session[];
  /** That are open now. */
  readonly openConnections: number;
  close(): Promise<void>;
}

export type Protocol = "h2" | "http/1.1" | "plain";

interface SmallServerOptions {
  readonly handler: Handler;
  readonly protocol?: Protocol;
  readonly settings?: Settings;
}

let certificates: Promise<ClusterCertificates> | undefined;

/** One authority for all small servers and their clients: keys take time. */
export async function smallCertificates(): Promise<ClusterCertificates> {
  certificates ??= createCertificates();
  return await certificates;
}

export async function startSmallServer(options: SmallServerOptions): Promise<SmallServer> {
  const { handler, protocol = "h2", settings = {} } = options;
  const { authority, serving } = await smallCertificates();
  const tls = { cert: serving.certificatePem, key: serving.keyPem, ca: authority.certificatePem };
  const requests: SmallRequest[] = [];
  const sessions: ServerHttp2Session[] = [];
  const sockets = new Map<Socket, number>();
  let opened = 0;

  const serve = (raw: Http2ServerRequest | IncomingMessage, response: SmallResponse) => {
    void readBody(raw).then((body) => {
      const socket = "stream" in raw ? raw.stream.session?.socket : raw.socket;
      const request = {
        method: raw.method ?? "",
        url: raw.url ?? "",
        headers: raw.headers,
        httpVersion: raw.httpVersion,
        body,
        peer: peerOf(socket),
        connection: sockets.get(bySocketPort(sockets, socket)) ?? 0,
      };
      requests.push(request);
      handler(request, response);
    });
  };
  const clientTls = { ...tls, requestCert: true, rejectUnauthorized: false };
  const start = (): Server => {
    if (protocol === "plain") return createPlainServer(serve);
    if (protocol === "http/1.1") return createHttpsServer({ ...clientTls, ALPNProtocols: ["http/1.1"] }, serve);
    const server = createSecureServer({ ...clientTls, settings });
    server.on("request", serve);
    server.on("session", (session) => {
      sessions.push(session);
      session.on("error", () => undefined);
    });
    return server;
  };
  const server = start();
  server.on("connection", (socket: Socket) => {
    opened += 1;
    sockets.set(socket, opened);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `${protocol === "plain" ? "http" : "https"}://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    sessions,
    get openConnections() {
      return sockets.size;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets.keys()) socket.destroy();
      await closed;
    },
  };
}

/** TLS and HTTP/2 wrap a socket in others, which have its port in common. */
function bySocketPort(sockets: ReadonlyMap<Socket, number>, socket: Socket | undefined): Socket {
  const found = [...sockets.keys()].find(({ remotePort }) => remotePort === socket?.remotePort);
  if (found === undefined) throw new Error("a request without a connection");
  return found;
}

function peerOf(socket: Socket | undefined): string | undefined {
  const certificate: unknown = socket === undefined ? undefined : Reflect.get(socket, "getPeerCertificate");
  if (socket === undefined || typeof certificate !== "function") return undefined;
  const { subject } = TLSSocket.prototype.getPeerCertificate.call(socket);
  const name: unknown = subject?.CN;
  return typeof name === "string" ? name : undefined;
}

async function readBody(raw: Http2ServerRequest | IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of raw) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

/** An answer in JSON. */
export function answerJson(response: SmallResponse, status: number, body: unknown, headers = {}): void {
  send(response, status, JSON.stringify(body), { "content-type": "application/json", ...headers });
}

/** Sends a part of the body, after the headers if it is the first. */
export function startBody(response: SmallResponse, part: string | Buffer): void {
  // The two have this method in common, and signatures that the compiler cannot join.
  if ("stream" in response) response.write(part);
  else response.write(part);
}

/** Any answer. */
export function send(response: SmallResponse, status: number, body: string, headers = {}): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  response.end(body);
}

export const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "a", resourceVersion: "1" } };
