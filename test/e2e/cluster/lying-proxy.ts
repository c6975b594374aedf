import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request as sendRequest } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { credentialsOf } from "../../contract/api/credentials-of.ts";

/** What comes of an API server's answer on its way to the node. */
export interface Lie {
  /** Answers in place of the server. False: the server is asked. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** What an answer becomes that is no watch. Default: it stays. */
  readonly body?: (request: IncomingMessage, object: unknown) => unknown;
}

/** An API server that lies, or does not. */
export interface LyingProxy {
  readonly url: string;
  /** The requests so far. */
  readonly requests: number;
  /** What is said from now on; open connections end, so that the node asks again. */
  lie(lie: Lie | undefined): void;
  close(): Promise<void>;
}

/** Stands before the server as the user of this kubeconfig; the node talks to it in plain HTTP. */
export async function createLyingProxy(kubeconfig: string): Promise<LyingProxy> {
  const { url, caPem, certificatePem, keyPem } = credentialsOf(kubeconfig);
  const agent = new Agent({ keepAlive: true, ca: caPem, cert: certificatePem, key: keyPem });
  const open = new Set<Socket>();
  let current: Lie | undefined;
  let requests = 0;
  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const { host: _, ...headers } = request.headers;
    const sent = sendRequest(new URL(request.url ?? "", url), { agent, method: request.method, headers }, (answer) => {
      const { "content-length": _length, ...kept } = answer.headers;
      response.writeHead(answer.statusCode ?? 500, kept);
      answer.on("error", () => response.destroy());
      if (current?.body === undefined || request.url?.includes("watch=true") || (answer.statusCode ?? 500) >= 300) {
        answer.pipe(response);
        response.once("close", () => answer.destroy());
        return;
      }
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const told = current?.body?.(request, JSON.parse(Buffer.concat(chunks).toString()));
        response.end(Buffer.isBuffer(told) ? told : JSON.stringify(told));
      });
    });
    sent.on("error", () => response.destroy());
    request.pipe(sent);
  };
  const server = createServer((request, response) => {
    requests++;
    if (current?.answer?.(request, response) !== true) pass(request, response);
  });
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    get requests() {
      return requests;
    },
    lie(lie) {
      current = lie;
      cut();
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
      agent.destroy();
      await closed;
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return address.port;
}
