import type { IncomingMessage } from "node:http";
import { AbortedError, childController, throwIfAborted } from "../../../base/abort.ts";
import { CodedError } from "../../../base/errors.ts";
import type { CallUpgrade } from "../../upgrade-call.ts";
import { CONNECT_TIMEOUT_MS, describeDialError } from "./dial.ts";
import { sendRequest } from "./send-request.ts";

/** The real `CallUpgrade`. */
export const callUpgrade: CallUpgrade = async ({ method, target, headers, tls, ...to }, signal) => {
  throwIfAborted(signal);
  // The caller's signal must not break the body of an answer, so the request has a signal of its own.
  const { controller, release } = childController(signal);
  try {
    const reply = await sendRequest(
      {
        to,
        method,
        path: target,
        headers,
        tls,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        // Either side may end its own direction while the other still sends.
        allowHalfOpen: true,
      },
      controller.signal,
    );
    const answered = headersOf(reply.message);
    if (reply.kind === "upgraded") return { kind: "upgraded", headers: answered, socket: reply.socket };
    return { kind: "answered", status: reply.status, headers: answered, body: reply.message };
  } catch (error) {
    if (signal.aborted) throw new AbortedError();
    throw new CodedError("call-failed", describeDialError(error, to), { cause: error });
  } finally {
    release();
  }
};

/** Headers by lower-case names. Several of one name are a list, in their order. */
function headersOf({ headersDistinct }: IncomingMessage): Record<string, string | string[]> {
  const entries = Object.entries(headersDistinct).map(([name, values = []]): [string, string | string[]] => {
    const [first = "", ...others] = values;
    return [name, others.length === 0 ? first : values];
  });
  return Object.fromEntries(entries);
}
