import { once } from "node:events";
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { TLSSocket } from "node:tls";
import { issueLoopbackCertificate } from "../loopback-certificate.ts";

/** What arrived, as the answers of everything that is no log and no stream tell it. */
interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** The API of a node that runs nothing, and a web server that could be a pod's. */
export interface FakeKubelet {
  /** An address of the machine, because proxies refuse loopback. */
  readonly address: string;
  readonly port: number;
  readonly podPort: number;
  /** The common name and organization in the certificate of the last call that had one. */
  lastPeer(): string;
  /** How many connections are open. */
  connections(): number;
  /** What a follower of `follow`'s log is sent next. */
  sendLine(line: string): void;
  /** What it answers to `/stats/summary` from now on, with the status; before, it answers nothing of use. */
  tellSummary(status: number, summary: unknown): void;
  /** How many are waiting for more of `follow`, or for anything of `silent`. */
  followers(): number;
  /** Once the last of them has gone. */
  followerGone(): Promise<void>;
  close(): Promise<void>;
}

/** Undefined on a machine that has nothing but loopback. */
export async function startFakeKubelet(): Promise<FakeKubelet | undefined> {
  const address = machineAddress();
  if (address === undefined) return undefined;
  const { serving } = await issueLoopbackCertificate();
  const state: State = { peer: "", summary: undefined, followers: new Set(), gone: [] };
  const secure = createServer(
    { cert: serving.certificatePem, key: serving.keyPem, requestCert: true, rejectUnauthorized: false },
    (request, response) => void serveNode(state, request, response),
  );
  secure.on("upgrade", (request: IncomingMessage, socket: Socket) => serveStream(state, request, socket));
  const plain = createPlainServer((request, response) => void echo(request, response));
  plain.on("upgrade", (request: IncomingMessage, socket: Socket) => serveStream(state, request, socket));
  const sockets = new Set<Socket>();
  for (const server of [secure, plain]) {
    server.on("connection", (socket: Socket) => {
      sockets.add(socket.once("close", () => sockets.delete(socket)));
    });
  }
  return {
    address,
    port: await listen(secure, address),
    podPort: await listen(plain, address),
    lastPeer: () => state.peer,
    connections: () => sockets.size,
    sendLine(line) {
      for (const follower of state.followers) follower.write(line);
    },
    tellSummary(status, summary) {
      state.summary = { status, body: JSON.stringify(summary) };
    },
    followers: () => state.followers.size,
    async followerGone() {
      if (state.followers.size > 0) await new Promise<void>((resolve) => state.gone.push(resolve));
    },
    async close() {
      const closed = [secure, plain].map((server) => new Promise((resolve) => server.close(resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
}

interface State {
  peer: string;
  summary: { status: number; body: string } | undefined;
  readonly followers: Set<ServerResponse>;
  readonly gone: Array<() => void>;
}

function machineAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal, address }) => family === "IPv4" && !internal && !address.startsWith("169.254."))
    ?.address;
}

async function listen(server: Server, address: string): Promise<number> {
  server.listen(0, address);
  await once(server, "listening");
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? (bound satisfies AddressInfo).port : 0;
}

const LOG_ANSWERS: Readonly<Record<string, { status: number; body: string }>> = {
  wrong: { status: 400, body: 'container "wrong" in pod is waiting to start' },
  absent: { status: 404, body: "no such log" },
  broken: { status: 500, body: "disk on fire" },
  forbidden: { status: 403, body: "Forbidden (user=x, verb=get, resource=nodes, subresource=log)" },
  gateway: { status: 502, body: "no gateway" },
  teapot: { status: 418, body: "short and stout" },
};

async function serveNode(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { socket, url = "" } = request;
  if (socket instanceof TLSSocket) {
    const { subject } = socket.getPeerCertificate();
    state.peer = `${subject?.CN}/${subject?.O}`;
  }
  if (url.startsWith("/stats/summary?") && state.summary) {
    response.writeHead(state.summary.status, { "content-type": "application/json" }).end(state.summary.body);
    return;
  }
  const container = /^\/containerLogs\/[^/]+\/[^/]+\/([^/?]+)/.exec(url)?.[1];
  if (container === undefined) return await echo(request, response);
  if (container === "follow" || container === "silent") {
    state.followers.add(response);
    response.once("close", () => {
      state.followers.delete(response);
      for (const tell of state.gone.splice(0)) tell();
    });
    if (container === "silent") return;
    response.writeHead(200, { "content-type": "text/plain" });
    response.write("one\n");
    return;
  }
  if (container === "large") {
    response.end(Buffer.alloc(LARGE_BYTES, "x"));
    return;
  }
  const { status, body } = LOG_ANSWERS[container] ?? { status: 200, body: `${url}\n` };
  response.writeHead(status, { "content-type": "text/plain" }).end(body);
}

export const LARGE_BYTES = 24 * 1024 * 1024;

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const { method = "", url = "", headers } = request;
  const path = url.split("?")[0] ?? "";
  if (path.endsWith("/moved")) {
    response.writeHead(302, { location: "/new/place?x=1" }).end();
    return;
  }
  const seen: SeenRequest = { method, url, headers, body: Buffer.concat(chunks).toString() };
  response.writeHead(path.endsWith("/created") ? 201 : 200, {
    "content-type": "application/json",
    "x-own": "kept",
    "access-control-allow-origin": "*",
    connection: "keep-alive, x-hop",
    "x-hop": "dropped",
  });
  response.end(JSON.stringify(seen));
}

/** Whatever it is sent, it says again in capitals; the first line is what it was asked for. */
function serveStream(_state: State, request: IncomingMessage, socket: Socket): void {
  const { url = "", headers, method } = request;
  socket.on("error", () => undefined);
  if (url.includes("/refuses")) {
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nnot you\n");
    return;
  }
  if (url.includes("/ordinary")) {
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    return;
  }
  const head = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", `Upgrade: ${headers.upgrade}`];
  const version = headers["x-stream-protocol-version"];
  socket.write([...head, `X-Stream-Protocol-Version: ${version}`, "", ""].join("\r\n"));
  socket.write(`${method} ${url}\n`);
  socket.on("data", (chunk: Buffer) => socket.write(chunk.toString().toUpperCase()));
  socket.on("end", () => socket.end());
}
