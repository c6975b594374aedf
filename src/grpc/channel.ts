import { Client, connectivityState, credentials, type CallOptions as GrpcCallOptions, Metadata } from "@grpc/grpc-js";
import { AbortedError, throwIfAborted } from "../base/abort.ts";
import { createBoundedReader } from "./bounded-reader.ts";
import type { Endpoint } from "./endpoint.ts";
import { type CallOptions, GrpcError } from "./port.ts";
import type { Rpc, RpcCaller } from "./service.ts";
import { readGrpcFailure } from "./status.ts";

/** See `openChannel`. */
interface ChannelOptions {
  endpoint: Endpoint;
  /** The time-out of unary calls whose caller names none, in milliseconds. */
  requestTimeoutMs: number;
  /** The bound on one message of the server. A longer one fails its call. Default `MAX_MESSAGE_BYTES`. */
  maxAnswerBytes?: number;
  /** The bound on the fields and lengths in one message (see `createBoundedReader`). Default: none. */
  maxAnswerNumbers?: number;
  /** The metadata that is sent with every call. */
  metadata?: Readonly<Record<string, string>>;
  /** What is dialled, as gRPC names it (`dns:host:port`). Default: the endpoint's socket. */
  target?: string;
  /** The first and the longest wait before a broken connection is made again. Default: those of a local socket. */
  reconnectMs?: { first: number; most: number };
}

/** One connection to a socket. It is made with the first call and made again when it broke. */
export interface GrpcChannel extends RpcCaller {
  /**
   * Connects without a call, and again when the connection broke, until `close`. The listener hears each time whether
   * there is a connection now.
   */
  followConnection(listener: (isConnected: boolean) => void): void;
  /** Cancels every call in flight. */
  close(): void;
}

/** Lists of a full node exceed gRPC's default of 4 MiB; 16 MiB is kubelet's limit for a runtime (`pkg/kubelet/cri`). */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** A restarted server is used again within half a second, because dialling a local socket costs nothing. */
const RECONNECT_MS = { first: 100, most: 500 };

const CHANNEL_OPTIONS = {
  "grpc.enable_http_proxy": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.use_local_subchannel_pool": 1,
};

/**
 * Connects with the first call. An idle connection does not keep the process alive. Calls reject with the GrpcError of
 * their status (a caller that knows the service may explain it further), or with AbortedError when their signal fired.
 */
export function openChannel(options: ChannelOptions): GrpcChannel {
  const { endpoint, maxAnswerBytes = MAX_MESSAGE_BYTES, target = `unix:${endpoint.path}` } = options;
  const { first, most } = options.reconnectMs ?? RECONNECT_MS;
  const client = new Client(target, credentials.createInsecure(), {
    ...CHANNEL_OPTIONS,
    "grpc.initial_reconnect_backoff_ms": first,
    "grpc.max_reconnect_backoff_ms": most,
    "grpc.max_receive_message_length": maxAnswerBytes,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  });
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(options.metadata ?? {})) metadata.set(key, value);
  const metadataOf = ({ metadata: added }: CallOptions): Metadata => {
    if (added === undefined) return metadata;
    const merged = metadata.clone();
    for (const [key, value] of Object.entries(added)) merged.set(key, value);
    return merged;
  };
  const inFlight = new Set<{ cancel(): void }>();
  let closed = false;

  const assertOpen = (rpc: Rpc) => {
    const detail = "the connection was closed by this process";
    if (closed) throw new GrpcError("cancelled", { rpc: rpc.method.name, endpoint: endpoint.url, detail });
  };
  const track = (call: { cancel(): void }, signal: AbortSignal | undefined): (() => void) => {
    const cancel = () => call.cancel();
    inFlight.add(call);
    signal?.addEventListener("abort", cancel, { once: true });
    return () => {
      inFlight.delete(call);
      signal?.removeEventListener("abort", cancel);
    };
  };

  return {
    async unary(rpc, request, call) {
      assertOpen(rpc);
      throwIfAborted(call.signal);
      const codec = codecOf(rpc, options.maxAnswerNumbers);
      const timeout = deadlineIn(call.timeoutMs ?? options.requestTimeoutMs);
      return await new Promise<unknown>((resolve, reject) => {
        const settle = (error: unknown, response: unknown) => {
          release();
          if (!error) resolve(response);
          else reject(call.signal?.aborted ? new AbortedError() : grpcError(rpc, endpoint, { error, closed }));
        };
        const { path, encode, decode } = codec;
        const sent = metadataOf(call);
        const grpcCall = client.makeUnaryRequest(path, encode, decode, request, sent, timeout, settle);
        const release = track(grpcCall, call.signal);
      });
    },

    async *stream(rpc, request, call) {
      assertOpen(rpc);
      if (call.signal?.aborted) return;
      const { path, encode, decode } = codecOf(rpc, options.maxAnswerNumbers);
      const timeout = deadlineIn(call.timeoutMs ?? Number.POSITIVE_INFINITY);
      const messages = client.makeServerStreamRequest(path, encode, decode, request, metadataOf(call), timeout);
      const release = track(messages, call.signal);
      // The iterator reports errors. An error that comes after the reader has left has no receiver.
      messages.on("error", () => undefined);
      try {
        for await (const message of messages) yield message;
      } catch (error) {
        if (!call.signal?.aborted) throw grpcError(rpc, endpoint, { error, closed });
      } finally {
        release();
        messages.cancel();
      }
    },

    followConnection(listener) {
      const channel = client.getChannel();
      const look = () => {
        if (closed) return;
        const state = channel.getConnectivityState(true);
        listener(state === connectivityState.READY);
        channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look);
      };
      look();
    },

    close() {
      closed = true;
      for (const call of inFlight) call.cancel();
      client.close();
    },
  };
}

function codecOf({ service, method }: Rpc, maxNumbers: number | undefined) {
  const bound = (bytes: Buffer) => (maxNumbers === undefined ? bytes : createBoundedReader(bytes, maxNumbers));
  return {
    path: `/${service}/${method.name}`,
    encode: (message: unknown) => Buffer.from(method.requestType.encode(message).finish()),
    decode: (bytes: Buffer) => method.responseType.decode(bound(bytes)),
  };
}

/**
 * Ten years. A pod may ask for a longer grace period, and the package rejects outside of the call, which ends the
 * process, when the header `grpc-timeout` cannot hold the deadline.
 */
const MAX_TIMEOUT_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/** A time-out that is too long for the protocol counts as none. */
function deadlineIn(timeoutMs: CallOptions["timeoutMs"] & number): GrpcCallOptions {
  return timeoutMs <= MAX_TIMEOUT_MS ? { deadline: Date.now() + timeoutMs } : {};
}

function grpcError(rpc: Rpc, endpoint: Endpoint, { error, closed }: { error: unknown; closed: boolean }): GrpcError {
  const { code, detail } = readGrpcFailure(error);
  // A server that sees our deadline pass before we do says "cancelled" (containerd 2). Nothing else cancels our calls.
  const ownCode = code === "cancelled" && !closed ? "deadline-exceeded" : code;
  return new GrpcError(ownCode, { rpc: rpc.method.name, endpoint: endpoint.url, detail, cause: error });
}
