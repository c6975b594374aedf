import { CodedError } from "../base/errors.ts";

/**
 * - `InvalidCertificate`, `InvalidRequest`, `InvalidKey`: the text is not what it should be.
 * - `AuthorityLost`: certificates exist whose authority does not, and a new one would cut everybody off.
 */
type PkiErrorCode = "AuthorityLost" | "InvalidCertificate" | "InvalidKey" | "InvalidRequest";

/** What went wrong with certificates and keys; its message is for a person. */
export class PkiError extends CodedError<PkiErrorCode> {
  override readonly name = "PkiError";
}
