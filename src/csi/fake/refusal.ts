import { CodedError } from "../../base/errors.ts";
import type { GrpcErrorCode } from "../../grpc/port.ts";

/** Makes the error that a driver throws to answer with a status; the connection adds the RPC's name. */
export function refusal(code: GrpcErrorCode, detail: string): CodedError<GrpcErrorCode> {
  return new CodedError(code, detail);
}
