import { type ServiceError, status } from "@grpc/grpc-js";
import type { GrpcErrorCode } from "./port.ts";

/** Each row has our code, gRPC's number and the name that Go's clients print. */
const STATUSES = [
  ["cancelled", status.CANCELLED, "Canceled"],
  ["unknown", status.UNKNOWN, "Unknown"],
  ["invalid-argument", status.INVALID_ARGUMENT, "InvalidArgument"],
  ["deadline-exceeded", status.DEADLINE_EXCEEDED, "DeadlineExceeded"],
  ["not-found", status.NOT_FOUND, "NotFound"],
  ["already-exists", status.ALREADY_EXISTS, "AlreadyExists"],
  ["permission-denied", status.PERMISSION_DENIED, "PermissionDenied"],
  ["resource-exhausted", status.RESOURCE_EXHAUSTED, "ResourceExhausted"],
  ["failed-precondition", status.FAILED_PRECONDITION, "FailedPrecondition"],
  ["aborted", status.ABORTED, "Aborted"],
  ["out-of-range", status.OUT_OF_RANGE, "OutOfRange"],
  ["unimplemented", status.UNIMPLEMENTED, "Unimplemented"],
  ["internal", status.INTERNAL, "Internal"],
  ["unavailable", status.UNAVAILABLE, "Unavailable"],
  ["data-loss", status.DATA_LOSS, "DataLoss"],
  ["unauthenticated", status.UNAUTHENTICATED, "Unauthenticated"],
] as const satisfies ReadonlyArray<readonly [GrpcErrorCode, status, string]>;

const CODES = new Map<number, GrpcErrorCode>(STATUSES.map(([code, number]) => [number, code]));
const NUMBERS = new Map<GrpcErrorCode, status>(STATUSES.map(([code, number]) => [code, number]));
const NAMES = new Map<GrpcErrorCode, string>(STATUSES.map(([code, , name]) => [code, name]));

/** The end of a call over gRPC: our code for its status and the message that came with it. */
interface GrpcFailure {
  code: GrpcErrorCode;
  detail: string;
}

/** The text in which grpc-js wraps the system's own message for a connection that could not be made. */
const NO_CONNECTION = /^No connection established\. Last error: (?:Error: )?(.+?)\.? Resolution note: .*$/s;

/**
 * Reads the error with which grpc-js rejects. An error without a gRPC status is `internal`, since grpc-js should not
 * throw it.
 */
export function readGrpcFailure(thrown: unknown): GrpcFailure {
  if (!isServiceError(thrown)) return { code: "internal", detail: String(thrown) };
  const detail = thrown.details || thrown.message;
  return { code: CODES.get(thrown.code) ?? "unknown", detail: NO_CONNECTION.exec(detail)?.[1] ?? detail };
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "number" && "details" in thrown;
}

/** Returns gRPC's number for one of our codes. */
export function statusOf(code: GrpcErrorCode): status {
  return NUMBERS.get(code) ?? status.UNKNOWN;
}

/** Returns the text if it is one of our codes. */
export function codeOfText(text: string): GrpcErrorCode | undefined {
  return STATUSES.find(([code]) => code === text)?.[0];
}

/**
 * Returns the code as Go's clients print it, such as `NotFound`. Metrics are labelled with it and users search for it.
 */
export function nameOfCode(code: GrpcErrorCode): string {
  return NAMES.get(code) ?? "Unknown";
}
