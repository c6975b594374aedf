import { type ServiceError, status } from "@grpc/grpc-js";
import type { CriErrorCode } from "./port.ts";

const CODES = new Map<number, CriErrorCode>([
  [status.CANCELLED, "cancelled"],
  [status.UNKNOWN, "unknown"],
  [status.INVALID_ARGUMENT, "invalid-argument"],
  [status.DEADLINE_EXCEEDED, "deadline-exceeded"],
  [status.NOT_FOUND, "not-found"],
  [status.ALREADY_EXISTS, "already-exists"],
  [status.PERMISSION_DENIED, "permission-denied"],
  [status.RESOURCE_EXHAUSTED, "resource-exhausted"],
  [status.FAILED_PRECONDITION, "failed-precondition"],
  [status.ABORTED, "aborted"],
  [status.OUT_OF_RANGE, "out-of-range"],
  [status.UNIMPLEMENTED, "unimplemented"],
  [status.INTERNAL, "internal"],
  [status.UNAVAILABLE, "unavailable"],
  [status.DATA_LOSS, "data-loss"],
  [status.UNAUTHENTICATED, "unauthenticated"],
]);

/** How a call over gRPC ended: our code for its status and the words that came with it. */
export interface GrpcFailure {
  code: CriErrorCode;
  detail: string;
}

/** Reads what grpc-js rejects with; whatever has no gRPC status is `internal`, since grpc-js should not throw it. */
export function readGrpcFailure(thrown: unknown): GrpcFailure {
  if (!isServiceError(thrown)) return { code: "internal", detail: String(thrown) };
  return { code: CODES.get(thrown.code) ?? "unknown", detail: thrown.details || thrown.message };
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "number" && "details" in thrown;
}
