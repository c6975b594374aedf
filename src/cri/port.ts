import { CodedError } from "../base/errors.ts";
import type { ImageServiceDefinition, MessageFns, RuntimeServiceDefinition } from "./gen/cri-v1.ts";

/**
 * The container runtime, as the node agent needs it: the two services of CRI v1, every RPC of them. The real adapter
 * (`connectCri`) and the fake (`createFakeCri`) pass one contract suite (`test/contract/cri.test.ts`).
 *
 * Requests and responses are the plain objects of `gen/cri-v1.ts`, where `X.fromPartial({…})` makes a whole message.
 * Every RPC rejects with a CriError, or with AbortedError when its signal fired; what the runtime did by then is its
 * own affair, so a caller that must know asks for the status.
 */
export interface Cri {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Cancels what is in flight and lets the socket go. The containers do not notice. */
  close(): void;
}

/** Sandboxes and containers: `version`, `runPodSandbox`, … as methods, server streams as async iterables. */
export type RuntimeService = ServiceOf<typeof RuntimeServiceDefinition>;

/** Images: `listImages`, `imageStatus`, `pullImage`, … */
export type ImageService = ServiceOf<typeof ImageServiceDefinition>;

export interface CallOptions {
  /**
   * Milliseconds until the call fails with `deadline-exceeded`; `Infinity` for none. Default: the connection's request
   * timeout, which is too short for whatever waits by design (StopContainer, ExecSync, PullImage); GetContainerEvents,
   * which never ends by itself, has none.
   */
  timeoutMs?: number | undefined;
  /** Firing it cancels the call; a stream then ends without an error. */
  signal?: AbortSignal | undefined;
}

/** The methods of a generated service definition. */
export type ServiceOf<Definition extends ServiceDefinition> = {
  [Method in keyof Definition["methods"]]: RpcOf<Definition["methods"][Method]>;
};

type RpcOf<Method extends MethodDefinition> = Method["responseStream"] extends true
  ? (
      request: MessageOf<Method["requestType"]>,
      options?: CallOptions,
    ) => AsyncIterable<MessageOf<Method["responseType"]>>
  : (request: MessageOf<Method["requestType"]>, options?: CallOptions) => Promise<MessageOf<Method["responseType"]>>;

type MessageOf<Codec> = Codec extends MessageFns<infer Message> ? Message : never;

/** What `gen/` says about a service; enough to call it or to serve it without knowing its messages. */
export interface ServiceDefinition {
  /** With its package, as it stands in the request path. */
  readonly fullName: string;
  readonly methods: Readonly<Record<string, MethodDefinition>>;
}

export interface MethodDefinition {
  /** As CRI spells it: `RunPodSandbox`. */
  readonly name: string;
  readonly requestType: MessageFns<unknown>;
  readonly responseType: MessageFns<unknown>;
  readonly responseStream: boolean;
}

/**
 * Why an RPC failed. The gRPC status codes in lower case, plus two that we find out ourselves:
 * - `not-a-runtime`: something listens on the socket, and it does not speak gRPC or not CRI;
 * - `unsupported-version`: the runtime speaks CRI v1alpha2 only.
 *
 * The ones to decide by: `not-found` (no such container, sandbox or image), `unavailable` (no runtime there right now:
 * try again), `deadline-exceeded` (it may have happened or not), `unimplemented` (this runtime lacks the RPC).
 * `unknown` is what runtimes answer for most of their own failures, with the reason in the message only.
 */
export type CriErrorCode =
  | "aborted"
  | "already-exists"
  | "cancelled"
  | "data-loss"
  | "deadline-exceeded"
  | "failed-precondition"
  | "internal"
  | "invalid-argument"
  | "not-a-runtime"
  | "not-found"
  | "out-of-range"
  | "permission-denied"
  | "resource-exhausted"
  | "unauthenticated"
  | "unavailable"
  | "unimplemented"
  | "unknown"
  | "unsupported-version";

/** A failed RPC. The message names the RPC and the endpoint; `detail` is the runtime's own words alone. */
export class CriError extends CodedError<CriErrorCode> {
  override readonly name = "CriError";
  readonly rpc: string;
  readonly detail: string;

  constructor(code: CriErrorCode, call: { rpc: string; endpoint: string; detail: string; cause?: unknown }) {
    super(code, `${call.rpc} at ${call.endpoint}: ${call.detail} (${code})`, { cause: call.cause });
    this.rpc = call.rpc;
    this.detail = call.detail;
  }
}

/** True for a CriError with one of these codes (with any, if none is given). */
export function isCriError(thrown: unknown, ...codes: CriErrorCode[]): thrown is CriError {
  return thrown instanceof CriError && (codes.length === 0 || codes.includes(thrown.code));
}
