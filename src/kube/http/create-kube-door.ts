import { type ClientRequest, type IncomingMessage, request as sendRequest } from "node:http";
import type { Duplex, Readable } from "node:stream";
import { AbortedError, throwIfAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { KubeConnection } from "../connection.ts";
import { createCredentials } from "../credentials/credentials.ts";
import type { PluginPrograms } from "../credentials/plugin-programs.ts";
import { KubeUnreachableError } from "../port.ts";
import { chooseProxy } from "./transport/choose-proxy.ts";
import { dial } from "./transport/dial.ts";
import { TransportError } from "./transport/wire.ts";

/**
 * Asks an API server for what is no object: logs that go on, and connections that leave HTTP. Each request has a
 * connection of its own, which ends with it.
 */
export interface KubeDoor {
  /**
   * GET of a path with its query. Rejects with KubeUnreachableError where the server cannot be asked, and with
   * AbortedError when the signal fires before there is an answer; after that it breaks the body or the socket.
   */
  open(request: DoorRequest, signal: AbortSignal): Promise<DoorAnswer>;
}

interface DoorRequest {
  readonly path: string;
  /** By lower-case names. Those that ask for another protocol are among them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the server says. The body must be read or destroyed, and so must the socket. */
export type DoorAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly body: Readable }
  | {
      readonly kind: "upgraded";
      readonly headers: Readonly<Record<string, string | readonly string[]>>;
      readonly socket: Duplex;
    };

interface KubeDoorDeps {
  readonly connection: KubeConnection;
  readonly clock: Clock;
  readonly log: Log;
  readonly programs: PluginPrograms;
  /** Stops a plugin that runs. */
  readonly signal: AbortSignal;
}

/** The time that connecting may take, with proxy and TLS. */
const CONNECT_TIMEOUT_MS = 10_000;
/** The time from the request to the beginning of the answer: the node's agent may have to be asked first. */
const ANSWER_TIMEOUT_MS = 30_000;

export function createKubeDoor(deps: KubeDoorDeps, userAgent: string): KubeDoor {
  const { connection, clock } = deps;
  const credentials = createCredentials(deps, connection);
  const server = new URL(connection.server);
  const basePath = server.pathname === "/" ? "" : server.pathname;

  const openOnce = async ({ path, headers }: DoorRequest, signal: AbortSignal) => {
    const authorization = await credentials.authorization();
    const { socket } = await dial(
      {
        origin: server.origin,
        proxyUrl: connection.proxyUrl ?? chooseProxy(server, process.env),
        secureContext: (await credentials.tls()).secureContext,
        verifyServer: connection.insecureSkipTlsVerify !== true,
        serverName: connection.tlsServerName,
        protocols: ["http/1.1"],
      },
      { clock, timeoutMs: CONNECT_TIMEOUT_MS, signal },
    );
    const request = sendRequest({
      createConnection: () => socket,
      path: `${basePath}${path}`,
      headers: {
        host: server.host,
        "user-agent": userAgent,
        ...headers,
        ...(authorization !== undefined && { authorization }),
      },
    });
    const timer = clock.setTimer(ANSWER_TIMEOUT_MS, () => {
      request.destroy(new TransportError("broken", `no answer within ${ANSWER_TIMEOUT_MS} ms`));
    });
    try {
      return { answer: await readAnswer(request, signal), authorization };
    } finally {
      timer.cancel();
    }
  };

  return {
    async open(request, signal) {
      try {
        throwIfAborted(signal);
        const { answer, authorization } = await openOnce(request, signal);
        const isRefused = answer.kind === "answered" && answer.status === 401;
        if (!isRefused || !(await credentials.renew(authorization))) return answer;
        answer.body.destroy();
        return (await openOnce(request, signal)).answer;
      } catch (error) {
        if (signal.aborted) throw new AbortedError();
        if (error instanceof KubeUnreachableError) throw error;
        throw new KubeUnreachableError("unreachable", messageOf(error), { cause: error });
      }
    },
  };
}

async function readAnswer(request: ClientRequest, signal: AbortSignal): Promise<DoorAnswer> {
  return await new Promise<DoorAnswer>((resolve, reject) => {
    const onAbort = () => request.destroy(new AbortedError());
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    request.once("close", () => signal.removeEventListener("abort", onAbort));
    request.on("error", reject);
    request.once("response", (message: IncomingMessage) => {
      // The body may break before somebody reads it.
      message.on("error", () => undefined);
      resolve({ kind: "answered", status: message.statusCode ?? 0, body: message });
    });
    request.once("upgrade", (message: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on("error", () => socket.destroy());
      signal.addEventListener("abort", () => socket.destroy(), { once: true });
      if (head.length > 0) socket.unshift(head);
      const headers = Object.entries(message.headersDistinct).map(([name, values = []]) => [name, values] as const);
      resolve({ kind: "upgraded", headers: Object.fromEntries(headers), socket });
    });
    request.end();
  });
}
