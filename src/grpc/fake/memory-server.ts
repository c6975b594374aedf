import { setMaxListeners } from "node:events";
import { AbortedError, childController, throwIfAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { GrpcChannel } from "../channel.ts";
import { type CallOptions, GrpcError, type GrpcErrorCode } from "../port.ts";
import { answerFailure, type Handler, type ServedService } from "../served-service.ts";
import type { Rpc } from "../service.ts";

/** A server in this process, which can be stopped and started as one that crashes. */
interface MemoryServer {
  /** One client's connection: closing it ends its calls and no others. */
  connect(options: { requestTimeoutMs: number }): GrpcChannel;
  /** Breaks every call in flight. Calls fail with `unavailable` until `start`. */
  stop(): void;
  /** Idempotent. A new server is started already. */
  start(): void;
}

/**
 * Works as `serveGrpc` with `openChannel` does, on a fake clock and without a socket; messages cross as bytes here too.
 */
export function createMemoryServer(options: {
  clock: Clock;
  /** The endpoint that errors name: `unix:///run/fake.sock`. */
  endpoint: string;
  services: readonly ServedService[];
}): MemoryServer {
  let running: AbortController | undefined = createManyListened();
  const followers = new Set<(isConnected: boolean) => void>();
  const tell = () => {
    for (const listener of [...followers]) listener(running !== undefined);
  };
  return {
    connect({ requestTimeoutMs }) {
      const closing = createManyListened();
      const open = (rpc: Rpc): Ends => {
        const fail = (code: GrpcErrorCode, detail: string) =>
          new GrpcError(code, { rpc: rpc.method.name, endpoint: options.endpoint, detail });
        if (closing.signal.aborted) throw fail("cancelled", CLOSED);
        if (running === undefined) throw fail("unavailable", "no such socket");
        return { running: running.signal, closed: closing.signal, fail, clock: options.clock, requestTimeoutMs };
      };
      const find = (rpc: Rpc, { fail }: Ends): Handler => {
        const service = options.services.find(({ fullName }) => fullName === rpc.service);
        const served = service?.methods.get(rpc.key);
        if (served === undefined) throw fail("unimplemented", `the method ${rpc.method.name} is not served here`);
        return served.handler;
      };
      return {
        async unary(rpc, request, call) {
          throwIfAborted(call.signal);
          const ends = open(rpc);
          const handler = find(rpc, ends);
          return await untilEnd(ends, call, async (signal) => {
            const response = await handler(overTheWire(rpc.method.requestType, request), { signal });
            return overTheWire(rpc.method.responseType, response);
          });
        },
        async *stream(rpc, request, call) {
          if (call.signal?.aborted) return;
          const ends = open(rpc);
          const { controller, release } = childController(ends.running);
          const { signal } = controller;
          const messages = find(rpc, ends)(overTheWire(rpc.method.requestType, request), { signal });
          // Only a streaming method gets here, and its handler returns what ServedService says.
          const iterator = (messages as AsyncIterable<unknown>)[Symbol.asyncIterator]();
          const streamCall = { timeoutMs: Number.POSITIVE_INFINITY, ...call };
          try {
            for (;;) {
              const next = await untilEnd(ends, streamCall, async () => await iterator.next());
              if (next.done === true) return;
              yield overTheWire(rpc.method.responseType, next.value);
            }
          } catch (error) {
            if (!call.signal?.aborted) throw error;
          } finally {
            controller.abort();
            release();
            // The handler may be in the middle of a message, and its reader has gone.
            iterator.return?.().catch(() => undefined);
          }
        },
        followConnection(listener) {
          followers.add(listener);
          closing.signal.addEventListener("abort", () => followers.delete(listener), { once: true });
          listener(running !== undefined);
        },
        close: () => closing.abort(),
      };
    },
    stop() {
      running?.abort();
      running = undefined;
      tell();
    },
    start() {
      running ??= createManyListened();
      tell();
    },
  };
}

const CLOSED = "the connection was closed by this process";

/** The signals that end a call before its handler does. */
interface Ends {
  running: AbortSignal;
  closed: AbortSignal;
  clock: Clock;
  requestTimeoutMs: number;
  fail(code: GrpcErrorCode, detail: string): GrpcError;
}

/**
 * Settles as `serve` does, or as soon as the call ends for the caller. `serve` learns of that by its signal and may go
 * on.
 */
async function untilEnd<T>(ends: Ends, call: CallOptions, serve: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { controller, release } = childController(ends.running);
  const releases: Array<() => void> = [release, () => controller.abort()];
  const listen = (signal: AbortSignal | undefined, fire: () => void) => {
    if (signal?.aborted) fire();
    signal?.addEventListener("abort", fire, { once: true });
    releases.push(() => signal?.removeEventListener("abort", fire));
  };
  const ended = new Promise<never>((_resolve, reject) => {
    listen(call.signal, () => reject(new AbortedError()));
    listen(ends.running, () => reject(ends.fail("unavailable", "the connection was dropped")));
    listen(ends.closed, () => reject(ends.fail("cancelled", CLOSED)));
    const timeoutMs = call.timeoutMs ?? ends.requestTimeoutMs;
    if (!Number.isFinite(timeoutMs)) return;
    const timer = ends.clock.setTimer(timeoutMs, () => reject(ends.fail("deadline-exceeded", "Deadline exceeded")));
    releases.push(() => timer.cancel());
  });
  const served = serve(controller.signal).catch((error: unknown) => {
    const { code, detail } = answerFailure(error);
    throw ends.fail(code, detail);
  });
  try {
    return await Promise.race([served, ended]);
  } finally {
    for (const free of releases.reverse()) free();
  }
}

/** A socket carries a copy, and only what the messages can express. */
function overTheWire(codec: Rpc["method"]["requestType"], message: unknown): unknown {
  return codec.decode(codec.encode(message).finish());
}

function createManyListened(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
