import { Agent, type ClientRequest, type IncomingMessage, request as sendRequest } from "node:http";
import type { Socket } from "node:net";
import { AbortedError } from "../../../base/abort.ts";
import type { Clock, Timer } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { type Connection, TransportError, type WireAnswer, type WireRequest } from "./wire.ts";

interface Http1Deps {
  readonly clock: Clock;
  /** Connected. */
  readonly socket: Socket;
  /** Called when it takes a request again, or is gone. */
  onChange(): void;
}

/** One kept-alive HTTP/1.1 connection, which takes one request at a time. */
export function createHttp1Connection({ clock, socket, onChange }: Http1Deps, origin: string): Connection {
  const { host } = new URL(origin);
  const agent = createSocketAgent(socket);
  let isDraining = false;
  let current: Http1Exchange | undefined;
  let grace: Timer | undefined;

  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => {
      isDraining = true;
      grace?.cancel();
      agent.destroy();
      resolve();
      onChange();
    });
  });
  // Without a request there is no other listener; the socket closes after the error.
  socket.on("error", () => undefined);
  const destroy = (error: TransportError) => {
    isDraining = true;
    current?.fail(error);
    socket.destroy();
  };
  return {
    protocol: "http/1.1",
    get free() {
      return isDraining || current !== undefined || socket.destroyed ? 0 : 1;
    },
    isSettling: false,
    get active() {
      return current === undefined ? 0 : 1;
    },
    send(request, signal) {
      if (signal.aborted) return Promise.reject(new AbortedError());
      const exchange = createExchange(openRequest(agent, host, request), signal, () => {
        current = undefined;
        if (isDraining) socket.destroy();
        // The agent has its socket back a little later.
        else setImmediate(onChange);
      });
      current = exchange;
      return exchange.answer;
    },
    retire(graceMs) {
      isDraining = true;
      if (current === undefined) {
        socket.destroy();
        return;
      }
      grace ??= clock.setTimer(graceMs, () => {
        destroy(new TransportError("retired", "the connection's credentials are of the past"));
      });
    },
    destroy,
    closed,
  };
}

/** Node.js's own keep-alive, over a socket that is there already. */
function createSocketAgent(socket: Socket): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isTaken = false;
  agent.createConnection = (_options, callback) => {
    if (isTaken || socket.destroyed) {
      const error = new TransportError("not-sent", "the connection was closed");
      process.nextTick(() => callback?.(error, socket));
      return undefined;
    }
    isTaken = true;
    return socket;
  };
  return agent;
}

function openRequest(agent: Agent, host: string, { method, path, headers, body }: WireRequest): ClientRequest {
  const length = body === undefined ? {} : { "content-length": String(body.length) };
  const request = sendRequest({ agent, method, path, setHost: false, headers: { ...headers, host, ...length } });
  request.end(body);
  return request;
}

interface Http1Exchange {
  readonly answer: Promise<WireAnswer>;
  fail(error: TransportError): void;
}

function createExchange(request: ClientRequest, signal: AbortSignal, onEnd: () => void): Http1Exchange {
  let rejectWaiting: (error: Error) => void = () => undefined;
  let failure: Error | undefined;
  let isOver = false;

  const end = () => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener("abort", onAbort);
    onEnd();
  };
  const fail = (error: Error) => {
    if (isOver || failure !== undefined) return;
    failure = error;
    rejectWaiting(error);
    // There is no other way to take a request back than to close its connection.
    request.destroy();
    end();
  };
  const onAbort = () => fail(new AbortedError());
  const onBroken = (error?: unknown) => fail(asTransportError(error));
  signal.addEventListener("abort", onAbort, { once: true });
  request.on("error", onBroken);
  request.once("close", () => onBroken());

  const read = async (response: IncomingMessage, onChunk: (chunk: Buffer) => void) => {
    await new Promise<void>((resolve, reject) => {
      if (failure !== undefined) {
        reject(failure);
        return;
      }
      rejectWaiting = reject;
      response.on("data", (chunk: Buffer) => {
        if (failure !== undefined) return;
        try {
          onChunk(chunk);
        } catch (error) {
          fail(error instanceof Error ? error : new Error(String(error)));
        }
      });
      response.once("end", () => {
        if (!response.complete) {
          onBroken();
          return;
        }
        resolve();
        end();
      });
    });
  };
  const answer = new Promise<WireAnswer>((resolve, reject) => {
    rejectWaiting = reject;
    request.once("response", (response) => {
      rejectWaiting = () => undefined;
      response.on("error", onBroken);
      response.once("aborted", () => onBroken());
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        read: (onChunk) => read(response, onChunk),
        discard: () => {
          request.destroy();
          end();
        },
      });
    });
  });
  return { answer, fail };
}

function asTransportError(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  return new TransportError("broken", error === undefined ? "the connection was closed" : messageOf(error), {
    cause: error,
  });
}
