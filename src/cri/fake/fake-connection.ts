import { setMaxListeners } from "node:events";
import { AbortedError, childController, isAbort, sleep, throwIfAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import type { CallOptions } from "../../grpc/port.ts";
import { createService, type Rpc, type RpcCaller } from "../../grpc/service.ts";
import { type ContainerEventResponse, ImageServiceDefinition, RuntimeServiceDefinition } from "../gen/cri-v1.ts";
import { type Cri, CriError, type CriErrorCode } from "../port.ts";
import type { FakeCall, FakeFaults } from "./fake-faults.ts";

/** The runtime's process as a connection sees it. */
export interface FakeServer {
  readonly clock: Clock;
  readonly faults: FakeFaults;
  /** Fires when this run of the runtime ends; undefined while it is down. */
  readonly running: AbortSignal | undefined;
  /** How long an RPC takes before it has an effect, milliseconds. */
  latencyMs(rpc: string): number;
  /** Undefined for an RPC that this runtime lacks. */
  handler(rpc: Rpc): ((request: unknown, signal: AbortSignal) => unknown) | undefined;
  /** Undefined for a runtime without events. */
  subscribe: ((signal: AbortSignal) => AsyncIterable<ContainerEventResponse>) | undefined;
}

const ENDPOINT = "unix:///run/fake.sock";
const DEFAULT_TIMEOUT_MS = 120_000;

/** One client's connection: closing it, or a restart of the runtime, ends its calls and no others. */
export function connectFake(server: FakeServer): Cri {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const caller = createCaller(server, closing.signal);
  return {
    runtime: createService(RuntimeServiceDefinition, caller),
    images: createService(ImageServiceDefinition, caller),
    close: () => closing.abort(),
  };
}

function createCaller(server: FakeServer, closed: AbortSignal): RpcCaller {
  const open = (rpc: Rpc): AbortSignal => {
    if (closed.aborted) throw failure(rpc, "cancelled", "the connection was closed by this process");
    if (server.running === undefined) throw failure(rpc, "unavailable", "no such socket: is the runtime running?");
    return server.running;
  };
  return {
    async unary(rpc, request, options) {
      throwIfAborted(options.signal);
      const running = open(rpc);
      const { controller, release } = childController(running);
      const ends = watchEnds(server.clock, rpc, { options, running, closed });
      try {
        // A socket carries a copy, and only what the messages can express.
        const { requestType, responseType } = rpc.method;
        const sent = requestType.decode(requestType.encode(request).finish());
        const response = await Promise.race([
          serve(server, rpc, { request: sent, signal: controller.signal }),
          ends.ended,
        ]);
        return responseType.decode(responseType.encode(response).finish());
      } catch (error) {
        throw asCriError(rpc, error);
      } finally {
        ends.release();
        controller.abort();
        release();
      }
    },
    async *stream(rpc, request, options) {
      if (options.signal?.aborted) return;
      const running = open(rpc);
      const { controller, release } = childController(running);
      const end = () => controller.abort();
      options.signal?.addEventListener("abort", end, { once: true });
      closed.addEventListener("abort", end, { once: true });
      try {
        await server.faults.before?.({ rpc: rpc.key, request, signal: controller.signal });
        if (rpc.key !== "getContainerEvents" || server.subscribe === undefined) throw lacking(rpc);
        yield* server.subscribe(controller.signal);
        if (options.signal?.aborted) return;
        throw failure(rpc, closed.aborted ? "cancelled" : "unavailable", "the connection was dropped");
      } catch (error) {
        if (!options.signal?.aborted) throw asCriError(rpc, error);
      } finally {
        options.signal?.removeEventListener("abort", end);
        closed.removeEventListener("abort", end);
        end();
        release();
      }
    },
  };
}

async function serve(server: FakeServer, rpc: Rpc, { request, signal }: Omit<FakeCall, "rpc">): Promise<unknown> {
  const call: FakeCall = { rpc: rpc.key, request, signal };
  await server.faults.before?.(call);
  const latencyMs = server.latencyMs(rpc.key);
  if (latencyMs > 0) await sleep(server.clock, latencyMs, signal);
  throwIfAborted(signal);
  const handler = server.handler(rpc);
  if (handler === undefined) throw lacking(rpc);
  const response = await handler(request, signal);
  await server.faults.after?.(call);
  return response;
}

/** Rejects as soon as the call ends for the caller: by its signal, its time-out or the loss of the connection. */
function watchEnds(
  clock: Clock,
  rpc: Rpc,
  { options, running, closed }: { options: CallOptions; running: AbortSignal; closed: AbortSignal },
): { ended: Promise<never>; release(): void } {
  let release = () => {};
  const ended = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(new AbortedError());
    const onDrop = () => reject(failure(rpc, "unavailable", "the connection was dropped"));
    const onClose = () => reject(failure(rpc, "cancelled", "the connection was closed by this process"));
    const onTimeout = () => reject(failure(rpc, "deadline-exceeded", "Deadline exceeded"));
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const timer = Number.isFinite(timeoutMs) ? clock.setTimer(timeoutMs, onTimeout) : undefined;
    options.signal?.addEventListener("abort", onAbort, { once: true });
    running.addEventListener("abort", onDrop, { once: true });
    closed.addEventListener("abort", onClose, { once: true });
    release = () => {
      timer?.cancel();
      options.signal?.removeEventListener("abort", onAbort);
      running.removeEventListener("abort", onDrop);
      closed.removeEventListener("abort", onClose);
    };
  });
  return { ended, release: () => release() };
}

function lacking(rpc: Rpc): CriError {
  return failure(rpc, "unimplemented", `the fake runtime does not implement ${rpc.method.name}`);
}

function failure(rpc: Rpc, code: CriErrorCode, detail: string): CriError {
  return new CriError(code, { rpc: rpc.method.name, endpoint: ENDPOINT, detail });
}

/** The codes of CodedErrors thrown in here are CriErrorCodes: handlers and fault hooks throw no others. */
function asCriError(rpc: Rpc, error: unknown): unknown {
  if (isAbort(error) || error instanceof CriError || !(error instanceof CodedError)) return error;
  return failure(rpc, error.code as CriErrorCode, messageOf(error));
}
