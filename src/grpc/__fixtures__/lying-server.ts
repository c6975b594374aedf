import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a server does with its clients, which need not be anything that gRPC knows. */
export interface Lie {
  /** Called with each connection. */
  readonly onSession?: (session: ServerHttp2Session) => void;
  /** Called with each call. Default: it is never answered. */
  readonly onCall?: (call: ServerHttp2Stream) => void;
}

/** A server of HTTP/2 on a unix socket that lies to callers of gRPC. */
interface LyingServer {
  readonly path: string;
  /** The number of connections so far. */
  readonly sessions: number;
  /** The number of bytes that the clients' kernel has taken. */
  readonly bytesSent: number;
  close(): Promise<void>;
}

/** Starts a server in a directory of its own, which goes with the server. */
export async function serveLies({ onSession, onCall }: Lie): Promise<LyingServer> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-lies-"));
  const path = join(directory, "x.sock");
  const server = createServer();
  const open = new Set<ServerHttp2Session>();
  const sockets: Socket[] = [];
  let sessions = 0;
  server.on("connection", (socket: Socket) => sockets.push(socket));
  server.on("session", (session) => {
    sessions++;
    open.add(session);
    session.on("error", () => undefined);
    session.once("close", () => open.delete(session));
    onSession?.(session);
  });
  server.on("stream", (call) => {
    call.on("error", () => undefined);
    call.resume();
    onCall?.(call);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    get sessions() {
      return sessions;
    },
    get bytesSent() {
      return sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
    },
    async close() {
      for (const session of open) session.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true });
    },
  };
}

const HEAD = { ":status": 200, "content-type": "application/grpc" };

/** One message as gRPC frames it; it may announce another length than it has. */
export function grpcFrame(bytes: Uint8Array, announced = bytes.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(announced, 1);
  return Buffer.concat([head, bytes]);
}

/** Answers with these bytes and then with the trailers. */
export function answerCall(call: ServerHttp2Stream, body: Buffer, trailers: Record<string, string>): void {
  call.respond(HEAD, { waitForTrailers: true });
  call.on("wantTrailers", () => call.sendTrailers(trailers));
  call.end(body);
}

/** Answers without a message. */
export function answerTrailersOnly(call: ServerHttp2Stream, trailers: Record<string, string>): void {
  call.respond({ ...HEAD, ...trailers }, { endStream: true });
}

/** Sends the bytes again and again, for as long as they are taken. */
export function answerForEver(call: ServerHttp2Stream, bytes: Buffer): void {
  call.respond(HEAD);
  const send = () => {
    while (!call.destroyed && call.write(bytes));
    if (!call.destroyed) call.once("drain", send);
  };
  send();
}
