import { once, setMaxListeners } from "node:events";
import { access, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { childController, throwIfAborted } from "../base/abort.ts";
import { CodedError } from "../base/errors.ts";
import { createTasks, type Tasks } from "../base/tasks.ts";
import { MAX_MESSAGE_BYTES } from "./channel.ts";
import { parseEndpoint } from "./endpoint.ts";
import { answerFailure, type ServedMethod, type ServedService } from "./served-service.ts";
import { probeSocket } from "./socket-probe.ts";
import { statusOf } from "./status.ts";

/** A gRPC server on a socket. */
export interface GrpcServer {
  /**
   * Removes the socket, answers the calls in flight with `unavailable`, and resolves when every handler has ended. Each
   * handler learns of the end by its signal. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Streams of one connection at a time. More have to wait at the client, so that what it does not read or does not end is
 * bounded.
 */
const MAX_STREAMS = 100;

interface ServeOptions {
  readonly path: string;
  readonly services: readonly ServedService[];
  /** The bound on a request. A longer one is answered with `resource-exhausted`. Default `MAX_MESSAGE_BYTES`. */
  readonly maxRequestBytes?: number;
}

/**
 * Serves on a unix socket, in a directory that exists. The socket of a server that died is replaced. A socket with a
 * listener is not replaced, nor is a file: then it rejects with CodedError `address-in-use`.
 */
export async function serveGrpc(options: ServeOptions): Promise<GrpcServer> {
  const { path } = parseEndpoint(`unix://${options.path}`);
  await clearPath(path);
  const server = new Server({
    "grpc.max_concurrent_streams": MAX_STREAMS,
    "grpc.max_receive_message_length": options.maxRequestBytes ?? MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  });
  const closing = new AbortController();
  // Every call in flight listens to the signal.
  setMaxListeners(0, closing.signal);
  // A handler's failure is its answer, so a rejection here is a fault of this file.
  const calls = createTasks((name, error) => {
    throw new Error(`serving ${name} failed`, { cause: error });
  });
  for (const { fullName, methods } of options.services) {
    for (const served of methods.values()) {
      register(server, { ...served, path: `/${fullName}/${served.method.name}` }, { calls, closing: closing.signal });
    }
  }
  await bind(server, path);
  return {
    async close() {
      closing.abort();
      await Promise.all([shutDown(server), calls.settled()]);
    },
  };
}

interface MethodAtPath extends ServedMethod {
  path: string;
}

interface Running {
  calls: Tasks;
  closing: AbortSignal;
}

function register(server: Server, served: MethodAtPath, running: Running): void {
  const { path, method } = served;
  const encode = (message: unknown) => Buffer.from(method.responseType.encode(message).finish());
  const decode = (bytes: Buffer) => method.requestType.decode(bytes);
  if (method.responseStream) {
    server.register(path, createStreamHandler(served, running), encode, decode, "serverStream");
  } else {
    server.register(path, createUnaryHandler(served, running), encode, decode, "unary");
  }
}

function createUnaryHandler({ path, handler }: MethodAtPath, { calls, closing }: Running) {
  return (call: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>): void => {
    const { signal, release } = watchEnds(call, closing, (answer) => reply(answer));
    calls.spawn(path, async () => {
      try {
        const response = await handler(call.request, { signal });
        if (!closing.aborted) reply(null, response);
      } catch (error) {
        if (!closing.aborted) reply(answerOf(error));
      } finally {
        release();
      }
    });
  };
}

function createStreamHandler({ path, handler }: MethodAtPath, { calls, closing }: Running) {
  return (call: ServerWritableStream<unknown, unknown>): void => {
    // This is how a server stream of grpc-js ends with a status.
    const fail = (answer: Answer) => call.emit("error", answer);
    const { signal, release } = watchEnds(call, closing, fail);
    calls.spawn(path, async () => {
      try {
        // Only a streaming method gets here, and its handler returns what ServedService says.
        for await (const message of handler(call.request, { signal }) as AsyncIterable<unknown>) {
          throwIfAborted(signal);
          if (!call.write(message)) await once(call, "drain", { signal });
        }
        if (!closing.aborted) call.end();
      } catch (error) {
        if (!closing.aborted) fail(answerOf(error));
      } finally {
        release();
      }
    });
  };
}

interface Answer {
  code: status;
  details: string;
}

/**
 * Makes the signal for a handler. When the server closes, its caller is answered at once, whatever the handler does.
 */
function watchEnds(
  call: { on(event: "cancelled", fire: () => void): unknown },
  closing: AbortSignal,
  answer: (answer: Answer) => void,
): { signal: AbortSignal; release(): void } {
  const { controller, release } = childController(closing);
  const onClose = () => answer({ code: status.UNAVAILABLE, details: "the server is shutting down" });
  if (closing.aborted) onClose();
  else closing.addEventListener("abort", onClose, { once: true });
  call.on("cancelled", () => controller.abort());
  return {
    signal: controller.signal,
    release() {
      release();
      closing.removeEventListener("abort", onClose);
    },
  };
}

function answerOf(error: unknown): Answer {
  const { code, detail } = answerFailure(error);
  return { code: statusOf(code), details: detail };
}

const DRAIN_LIMIT_MS = 500;

/** Waits until the last answers are sent, for as long as a client on this machine can need to read them. */
async function shutDown(server: Server): Promise<void> {
  const timer = setTimeout(() => server.forceShutdown(), DRAIN_LIMIT_MS);
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  clearTimeout(timer);
}

async function clearPath(path: string): Promise<void> {
  // The error has the system's words here; grpc-js would write its own to the console, too.
  await access(dirname(path));
  const { found } = await probeSocket(path);
  if (found === "nothing") return;
  if (found !== "closed") throw new CodedError("address-in-use", `cannot serve at ${path}: it is in use`);
  await unlink(path);
}

async function bind(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
