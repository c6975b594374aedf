import { CodedError } from "../base/errors.ts";
import type { GrpcErrorCode } from "../grpc/port.ts";
import type { ServiceOf } from "../grpc/service.ts";
import type { ImageServiceDefinition, RuntimeServiceDefinition } from "./gen/cri-v1.ts";

/**
 * The container runtime, as the node agent needs it: the two services of CRI v1, every RPC of them. The real adapter
 * (`connectCri`) and the fake (`createFakeCri`) pass one contract suite (`test/contract/cri.test.ts`).
 *
 * Requests and responses are the plain objects of `gen/cri-v1.ts`, where `X.fromPartial({…})` makes a whole message.
 * Every RPC rejects with a CriError, or with AbortedError when its signal fired. It is not known then what the runtime
 * did, so a caller that must know asks for the status. The connection's request timeout holds where the caller names
 * none. It is too short for the calls that wait by design: StopContainer, ExecSync, PullImage.
 */
export interface Cri {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Cancels the calls in flight and closes the socket. The containers are not affected. */
  close(): void;
}

/** Sandboxes and containers: `version`, `runPodSandbox`, … as methods, server streams as async iterables. */
export type RuntimeService = ServiceOf<typeof RuntimeServiceDefinition>;

/** Images: `listImages`, `imageStatus`, `pullImage`, … */
export type ImageService = ServiceOf<typeof ImageServiceDefinition>;

/**
 * Why an RPC failed. The gRPC status codes in lower case, plus two that we find out ourselves:
 * - `not-a-runtime`: something listens on the socket, and it does not speak gRPC or not CRI;
 * - `unsupported-version`: the runtime speaks CRI v1alpha2 only.
 *
 * The ones to decide by: `not-found` (no such container, sandbox or image), `unavailable` (no runtime there right now:
 * try again), `deadline-exceeded` (it may have happened or not), `unimplemented` (this runtime lacks the RPC).
 * `unknown` is what runtimes answer for most of their own failures, with the reason in the message only.
 */
export type CriErrorCode = GrpcErrorCode | "not-a-runtime" | "unsupported-version";

/**
 * The reasons that a runtime gives for a failure of an image or its mount. A runtime that can tell begins its message
 * with one of them (cri-api, pkg/errors/errors.go).
 */
const REASONS = ["RegistryUnavailable", "SignatureValidationFailed", "ImageVolumeMountFailed"] as const;

/**
 * A failed RPC. The message names the RPC and the endpoint; `detail` is the runtime's own message alone. `reason` is
 * the word with which that message begins, where the runtime can tell.
 */
export class CriError extends CodedError<CriErrorCode> {
  override readonly name = "CriError";
  readonly rpc: string;
  readonly detail: string;
  readonly reason: (typeof REASONS)[number] | undefined;

  constructor(code: CriErrorCode, call: { rpc: string; endpoint: string; detail: string; cause?: unknown }) {
    super(code, `${call.rpc} at ${call.endpoint}: ${call.detail} (${code})`, { cause: call.cause });
    this.rpc = call.rpc;
    this.detail = call.detail;
    this.reason = REASONS.find((reason) => call.detail.startsWith(reason));
  }
}

/** True for a CriError with one of these codes (with any, if none is given). */
export function isCriError(thrown: unknown, ...codes: CriErrorCode[]): thrown is CriError {
  return thrown instanceof CriError && (codes.length === 0 || codes.includes(thrown.code));
}
