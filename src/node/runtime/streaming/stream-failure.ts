import { isAbort, throwIfAborted } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import { isCriError } from "../../../cri/port.ts";
import { nameOfCode } from "../../../grpc/status.ts";
import type { Page, ServedAnswer } from "../../../host/http-server.ts";

/**
 * The seconds after which a client may ask again when the runtime has too many streams: as long as its tokens for
 * streams live.
 */
const RETRY_AFTER_SECONDS = 60;

/** The answer when more streams are wanted than there may be at once; the words are the runtimes'. */
export const TOO_MANY: Page = {
  status: 429,
  headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  body: "rpc error: code = ResourceExhausted desc = maximum number of in-flight requests exceeded",
};

/**
 * Describes why a stream did not come about, as upstream's streaming server does (`WriteError` of
 * k8s.io/cri-streaming). Throws the error again if it is an abort.
 */
export function describeFailure(error: unknown): ServedAnswer {
  if (isAbort(error)) throw error;
  const body = goWordsOf(error);
  if (isCriError(error, "not-found")) return { status: 404, body };
  return isCriError(error, "resource-exhausted") ? { ...TOO_MANY, body } : { status: 500, body };
}

/**
 * Words a failure of the runtime as a Go client does, because users search for those words, and programs look for what a
 * runtime itself says of a call that it lacks.
 */
export function goWordsOf(error: unknown): string {
  if (!isCriError(error)) return messageOf(error);
  const { code, cause } = error;
  if (code === "unimplemented" && isCriError(cause)) return goWordsOf(cause);
  const known = code === "not-a-runtime" || code === "unsupported-version" ? "unavailable" : code;
  return `rpc error: code = ${nameOfCode(known)} desc = ${error.detail}`;
}

/** Answers with the task's result, or with why it failed; rejects with AbortedError when the client has gone. */
export async function answerOf(signal: AbortSignal, task: () => Promise<ServedAnswer>): Promise<ServedAnswer> {
  try {
    return await task();
  } catch (error) {
    throwIfAborted(signal);
    return describeFailure(error);
  }
}
