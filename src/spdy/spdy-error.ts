import { CodedError } from "../base/errors.ts";

/**
 * - `protocol-error`: the peer sent what is no SPDY, or does not read what it asked for; the connection has ended.
 * - `connection-lost`: the connection ended while the stream was in use.
 * - `closed`: this side has closed the connection.
 * - `refused`: the peer did not accept the stream.
 * - `stream-error`: the peer ended the stream because of what came in it.
 * - `timed-out`: the peer did not answer, or has been quiet for too long.
 * - `no-more-streams`: the peer goes away, or all numbers are used up.
 */
type SpdyErrorCode =
  | "protocol-error"
  | "connection-lost"
  | "closed"
  | "refused"
  | "stream-error"
  | "timed-out"
  | "no-more-streams";

/** The error that streams fail with, and that a connection ends with. */
export class SpdyError extends CodedError<SpdyErrorCode> {
  override readonly name = "SpdyError";
}
