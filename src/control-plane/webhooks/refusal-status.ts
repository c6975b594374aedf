import { ApiError, type ApiErrorReason, REASON_CODES } from "../../api/api-error.ts";
import { isRecord } from "../../api/object.ts";

/** A client reads a message, not a book. */
const MAX_MESSAGE_LENGTH = 32_768;

/**
 * The error by which a webhook refuses: its own code, reason and message, as far as they are those of a refusal. Follows
 * `ToStatusErr` of k8s.io/apiserver/pkg/admission/plugin/webhook/errors.
 */
export function refusalBy(webhook: string, status: Readonly<Record<string, unknown>>): ApiError {
  const message = textOf(status["message"]).slice(0, MAX_MESSAGE_LENGTH);
  const reason = textOf(status["reason"]).slice(0, MAX_MESSAGE_LENGTH);
  const why = message || reason;
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const code = codeOf(status["code"]);
  return new ApiError(
    reasonOf(code),
    why === "" ? `${denied} without explanation` : `${denied}: ${why}`,
    isRecord(status["details"]) ? { ...status["details"] } : {},
    { foreign: { code, reason: reason === "" ? undefined : reason } },
  );
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

function codeOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 400) return REASON_CODES.BadRequest;
  return value > 599 ? REASON_CODES.InternalError : value;
}

function reasonOf(code: number): ApiErrorReason {
  const reasons = Object.keys(REASON_CODES).filter(isReason);
  return reasons.findLast((reason) => REASON_CODES[reason] === code) ?? (code < 500 ? "BadRequest" : "InternalError");
}

function isReason(name: string): name is ApiErrorReason {
  return Object.hasOwn(REASON_CODES, name);
}
