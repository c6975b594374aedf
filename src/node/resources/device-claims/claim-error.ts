/** What a driver says may be long. */
const MAX_MESSAGE_LENGTH = 4_096;

/** A pod's claims cannot be prepared or given back now. The message is upstream's and does not name the pod. */
export class ClaimError extends Error {
  override readonly name = "ClaimError";

  constructor(message: string, options?: { cause?: unknown }) {
    super(message.slice(0, MAX_MESSAGE_LENGTH), options);
  }
}
