import { CodedError } from "../base/errors.ts";

/** The options of one call. */
export interface CallOptions {
  /**
   * Milliseconds until the call fails with `deadline-exceeded`; `Infinity` for none. Default: the connection's request
   * timeout; a server stream has none.
   */
  timeoutMs?: number | undefined;
  /** Firing it cancels the call, which rejects with AbortedError; a stream then ends without an error. */
  signal?: AbortSignal | undefined;
  /** Sent with this call beside the connection's own. */
  metadata?: Readonly<Record<string, string>> | undefined;
}

/** gRPC's status codes in lower case. */
export type GrpcErrorCode =
  | "aborted"
  | "already-exists"
  | "cancelled"
  | "data-loss"
  | "deadline-exceeded"
  | "failed-precondition"
  | "internal"
  | "invalid-argument"
  | "not-found"
  | "out-of-range"
  | "permission-denied"
  | "resource-exhausted"
  | "unauthenticated"
  | "unavailable"
  | "unimplemented"
  | "unknown";

/** A failed call. The message names the RPC and the endpoint; `detail` is the server's own message alone. */
export class GrpcError extends CodedError<GrpcErrorCode> {
  override readonly name = "GrpcError";
  readonly rpc: string;
  readonly detail: string;

  constructor(code: GrpcErrorCode, call: { rpc: string; endpoint: string; detail: string; cause?: unknown }) {
    super(code, `${call.rpc} at ${call.endpoint}: ${call.detail} (${code})`, { cause: call.cause });
    this.rpc = call.rpc;
    this.detail = call.detail;
  }
}

/** True for a GrpcError with one of these codes (with any, if none is given). */
export function isGrpcError(thrown: unknown, ...codes: GrpcErrorCode[]): thrown is GrpcError {
  return thrown instanceof GrpcError && (codes.length === 0 || codes.includes(thrown.code));
}
