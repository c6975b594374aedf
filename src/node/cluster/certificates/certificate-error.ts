import { CodedError } from "../../../base/errors.ts";

/**
 * A certificate that the node needs and does not get. Its message is for an operator, and holds no credentials.
 * - `denied`: somebody denied the request; `failed`: its signer could not sign it.
 * - `refused`: the API server does not take requests from us: a token that expired, a role that is missing.
 * - `incompatible`: what was issued or found under our request's name is of no use to us.
 */
type CertificateErrorCode = "denied" | "failed" | "refused" | "incompatible";

/** What TLS bootstrap rejects with, and what the log of a rotation says. */
export class CertificateError extends CodedError<CertificateErrorCode> {
  override readonly name = "CertificateError";
}
