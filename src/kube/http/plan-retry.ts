import type { IncomingHttpHeaders } from "node:http";
import { codeOf } from "../../base/errors.ts";
import { TransportError } from "./transport/wire.ts";

/** What became of one attempt. */
export type AttemptOutcome =
  | { readonly kind: "answered"; readonly status: number; readonly headers: IncomingHttpHeaders }
  | { readonly kind: "failed"; readonly error: unknown };

/** Of what the server asks for, as client-go; all of them together are bounded by the call's time. */
const MAX_RETRIES = 10;
/** Of connections that cannot be made or break: an outage that lasts longer is for whoever calls to wait out. */
const MAX_CONNECTION_RETRIES = 3;
/** A server that cannot be reached is asked again after this long, as in client-go. */
const UNREACHABLE_WAIT_MS = 1_000;
/** A broken connection, or a server that is not there for the moment. A name or a certificate will not mend itself. */
const TRANSIENT_CODES = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "EAI_AGAIN"],
]);

/**
 * How long to wait before the next attempt; undefined: the outcome stands. By the rules of client-go's
 * `rest/with_retry.go`, and beyond them: what the server did not look at is sent again, whatever it is.
 */
export function planCallRetry(method: string, attempt: number, outcome: AttemptOutcome): number | undefined {
  if (attempt > MAX_RETRIES) return undefined;
  if (outcome.kind === "answered") {
    const { status, headers } = outcome;
    return status === 429 || status >= 500 ? readRetryAfter(headers) : undefined;
  }
  const { error } = outcome;
  if (!(error instanceof TransportError) || attempt > MAX_CONNECTION_RETRIES) return undefined;
  switch (error.code) {
    case "not-sent":
      // The first time at once: there is another connection. A server that goes on refusing is given time.
      return attempt === 1 ? 0 : UNREACHABLE_WAIT_MS;
    case "not-connected":
      return TRANSIENT_CODES.has(codeOf(error.cause) ?? "") ? UNREACHABLE_WAIT_MS : undefined;
    case "retired":
    case "broken":
      // Whether it was done is not known, and only reading may be done twice.
      return method === "GET" ? UNREACHABLE_WAIT_MS : undefined;
  }
}

/** Whole seconds, as client-go reads it; a date is taken for no answer, as there. */
function readRetryAfter(headers: IncomingHttpHeaders): number | undefined {
  const value = headers["retry-after"] ?? "";
  return /^\d{1,6}$/.test(value) ? Number(value) * 1_000 : undefined;
}
