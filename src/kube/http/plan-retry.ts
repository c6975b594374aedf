import type { IncomingHttpHeaders } from "node:http";
import { codeOf } from "../../base/errors.ts";
import { TransportError } from "./transport/wire.ts";

/** The outcome of one attempt. */
export type AttemptOutcome =
  | { readonly kind: "answered"; readonly status: number; readonly headers: IncomingHttpHeaders }
  | { readonly kind: "failed"; readonly error: unknown };

/** Retries that the server asks for, as in client-go; the call's time bounds them, too. */
const MAX_RETRIES = 10;
/** Retries of connections that fail or break: the caller waits out an outage that lasts longer. */
const MAX_CONNECTION_RETRIES = 3;
/** A server that cannot be reached is asked again after this long, as in client-go. */
const UNREACHABLE_WAIT_MS = 1_000;
/** A broken connection, or a server that is not there for the moment. A name or a certificate will not mend itself. */
const TRANSIENT_CODES = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "EAI_AGAIN"],
]);

/**
 * The wait before the next attempt in milliseconds; undefined: the outcome stands. Follows client-go's
 * `rest/with_retry.go`, and goes beyond it: a request that the server did not look at is sent again, of any method.
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
      // The first retry comes at once, on another connection. A server that goes on refusing is given time.
      return attempt === 1 ? 0 : UNREACHABLE_WAIT_MS;
    case "not-connected":
      return TRANSIENT_CODES.has(codeOf(error.cause) ?? "") ? UNREACHABLE_WAIT_MS : undefined;
    case "retired":
    case "broken":
      // The request may have been carried out, and only reading may be done twice.
      return method === "GET" ? UNREACHABLE_WAIT_MS : undefined;
  }
}

/** Reads whole seconds, as client-go does; a date counts as absent, as there. */
function readRetryAfter(headers: IncomingHttpHeaders): number | undefined {
  const value = headers["retry-after"] ?? "";
  return /^\d{1,6}$/.test(value) ? Number(value) * 1_000 : undefined;
}
