import * as http2 from "node:http2";
import { Agent, type RequestOptions, request as requestHttps } from "node:https";
import type { Endpoint } from "./api-server.ts";

/** HTTP/1.1 as scripts and @kubernetes/client-node speak it, HTTP/2 as the clients of Go do. */
export type Protocol = "HTTP/1.1" | "HTTP/2";

interface Call {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  body?: string;
  contentType?: string;
  accept?: string;
  /** Who an administrator's call is made as. */
  user?: string;
}

interface Reply {
  status: number;
  body: Buffer;
}

/** Connections to one server that stay open between calls. */
export interface Connection {
  /** Resolves with the last byte. */
  request(call: Call): Promise<Reply>;
  /** Resolves with the status; what follows goes to `onChunk`, for as long as it lasts. */
  stream(call: Call, onChunk: (chunk: Buffer) => void): Promise<number>;
  close(): void;
}

/** As Go's HTTP/2 client announces them: what is small costs a message back for every few events. */
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 1 << 30;

/** Calls spread over so many connections, in turns. */
export function connect(endpoint: Endpoint, options: { protocol: Protocol; connections: number }): Connection {
  return options.protocol === "HTTP/2" ? connectHttp2(endpoint, options.connections) : connectHttp1(endpoint, options);
}

function headersOf({ body, contentType = "application/json", accept = "application/json", user }: Call) {
  const sent = { accept, "user-agent": "bench/1.0", ...(user !== undefined && { "impersonate-user": user }) };
  if (body === undefined) return sent;
  return { ...sent, "content-type": contentType, "content-length": String(Buffer.byteLength(body)) };
}

function connectHttp1(endpoint: Endpoint, { connections }: { connections: number }): Connection {
  const { host, port, caPem: ca, certificatePem: cert, keyPem: key } = endpoint;
  const agent = new Agent({ keepAlive: true, maxSockets: connections, host, port, ca, cert, key });
  const start = (call: Call, onChunk: (chunk: Buffer) => void, onEnd: (() => void) | undefined) => {
    return new Promise<number>((resolve, reject) => {
      const target: RequestOptions = { agent, host, port, method: call.method, path: call.path };
      const sent = requestHttps({ ...target, headers: headersOf(call) }, (response) => {
        response.on("data", onChunk);
        response.on("error", reject);
        if (onEnd === undefined) resolve(response.statusCode ?? 0);
        response.on("end", () => {
          onEnd?.();
          resolve(response.statusCode ?? 0);
        });
      });
      sent.on("error", reject);
      sent.end(call.body);
    });
  };
  return { ...callsOf(start), close: () => agent.destroy() };
}

function connectHttp2(endpoint: Endpoint, connections: number): Connection {
  const { host, port, caPem: ca, certificatePem: cert, keyPem: key } = endpoint;
  const sessions = Array.from({ length: connections }, () => {
    const settings = { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false };
    const session = http2.connect(`https://${host}:${port}`, { ca, cert, key, settings });
    session.on("connect", () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
    // Streams tell their callers.
    session.on("error", () => undefined);
    return session;
  });
  let next = 0;
  const start = (call: Call, onChunk: (chunk: Buffer) => void, onEnd: (() => void) | undefined) => {
    return new Promise<number>((resolve, reject) => {
      const session = sessions[next++ % sessions.length];
      const head = { ":method": call.method, ":path": call.path, ...headersOf(call) };
      const stream = session?.request(head, { endStream: call.body === undefined });
      let status = 0;
      stream?.on("response", (headers) => {
        status = headers[":status"] ?? 0;
        if (onEnd === undefined) resolve(status);
      });
      stream?.on("data", onChunk);
      stream?.on("error", reject);
      stream?.on("end", () => {
        onEnd?.();
        resolve(status);
      });
      if (call.body !== undefined) stream?.end(call.body);
    });
  };
  return {
    ...callsOf(start),
    close() {
      for (const session of sessions) session.destroy();
    },
  };
}

type Start = (call: Call, onChunk: (chunk: Buffer) => void, onEnd: (() => void) | undefined) => Promise<number>;

function callsOf(start: Start): Pick<Connection, "request" | "stream"> {
  return {
    async request(call) {
      const chunks: Buffer[] = [];
      const status = await start(
        call,
        (chunk) => chunks.push(chunk),
        () => undefined,
      );
      return { status, body: Buffer.concat(chunks) };
    },
    stream: async (call, onChunk) => await start(call, onChunk, undefined),
  };
}

/** The reply's body as text. Throws for any other status. */
export function expectStatus({ status, body }: Reply, ...expected: readonly number[]): string {
  const text = body.toString();
  if (!expected.includes(status)) throw new Error(`the server answers ${status}: ${text.slice(0, 500)}`);
  return text;
}
