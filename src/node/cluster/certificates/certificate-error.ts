import { CodedError } from "../../../base/errors.ts";

/**
 * Why the node does not get a certificate that it needs. The error's message is for an operator, and holds no
 * credentials.
 * - `denied`: an approver denied the request; `failed`: its signer could not sign it.
 * - `refused`: the API server does not take requests from us, because a token expired or a role is missing.
 * - `incompatible`: what was issued or found under our request's name is of no use to us.
 */
type CertificateErrorCode = "denied" | "failed" | "refused" | "incompatible";

/** The error with which TLS bootstrap rejects, and which the log of a rotation shows. */
export class CertificateError extends CodedError<CertificateErrorCode> {
  override readonly name = "CertificateError";
}
