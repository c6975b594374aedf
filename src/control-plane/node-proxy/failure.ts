import type { ApiErrorReason } from "../../api/api-error.ts";
import type { Status, StatusDetails } from "../../api/gen/types.ts";
import type { ServedAnswer } from "../../host/http-server.ts";

/** A failure that is no fault of the request. */
interface Failure {
  readonly code: number;
  /** Absent where upstream tells no reason either. */
  readonly reason?: ApiErrorReason;
  readonly message: string;
  readonly details?: StatusDetails;
}

/**
 * An answer in the form of API errors, but with any code: the answer of a node may have a code that no error of the API
 * has, and errors of the network have no reason (apiserver/pkg/endpoints/handlers/responsewriters/status.go).
 */
export function failureAnswer({ code, reason, message, details }: Failure): ServedAnswer {
  const status: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason !== undefined && { reason }),
    ...(details && { details }),
    code,
  };
  const body = `${JSON.stringify(status)}\n`;
  return { status: code, headers: { "content-type": "application/json" }, body };
}

/** 500 without a reason, as upstream answers an error that it did not expect. */
export function unexpectedFailure(message: string): ServedAnswer {
  return failureAnswer({ code: 500, message });
}
