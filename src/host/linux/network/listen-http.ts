import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { CodedError, codeOf, messageOf } from "../../../base/errors.ts";
import type { HttpHandler, HttpServer, Listen, ListenAddress, ServedResponse } from "../../http-server.ts";

/** Somebody who connects and says nothing is let go after this long. */
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_CONNECTIONS = 256;
/** Only for parsing: requests name a path. */
const BASE_URL = "http://node";

/** The real `Listen`, over `node:http`. */
export const listenHttp: Listen = async (address, handler) => {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    void answer(handler, request, response);
  });
  server.maxConnections = MAX_CONNECTIONS;
  if ("socketPath" in address) await rm(address.socketPath, { force: true });
  await listen(server, address);
  if ("socketPath" in address) await chmod(address.socketPath, 0o600);
  return describe(server);
};

async function listen(server: Server, address: ListenAddress): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    // For as long as it listens: a connection that could not be accepted is its client's trouble.
    server.on("error", (error) => reject(explain(address, error)));
    const where =
      "socketPath" in address ? { path: address.socketPath } : { host: address.address, port: address.port };
    server.listen(where, resolve);
  });
}

function explain(address: ListenAddress, error: unknown): Error {
  const where = "socketPath" in address ? address.socketPath : `${address.address}:${address.port}`;
  const mend = codeOf(error) === "EADDRINUSE" ? "; another process listens there: stop it or choose another port" : "";
  return new CodedError("listen-failed", `cannot listen on ${where}: ${messageOf(error)}${mend}`, { cause: error });
}

function describe(server: Server): HttpServer {
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : undefined,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(handler: HttpHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // What is in a request line is anybody's: `//` is no URL, and must not be the end of the process.
  const target = request.url ?? "/";
  let answered: ServedResponse = { status: 400, body: "400 bad request\n" };
  try {
    if (URL.canParse(target, BASE_URL)) {
      const url = new URL(target, BASE_URL);
      answered = await handler({ method: request.method ?? "GET", path: url.pathname, query: url.searchParams });
    }
  } catch (error) {
    answered = { status: 500, body: `${messageOf(error)}\n` };
  }
  response.writeHead(answered.status, {
    "content-type": answered.contentType ?? "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : answered.body);
}
