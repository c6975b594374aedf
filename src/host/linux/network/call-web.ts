import { AbortedError } from "../../../base/abort.ts";
import { CodedError } from "../../../base/errors.ts";
import type { CallWeb, WebCall, WebReply } from "../../web-call.ts";
import { CONNECT_TIMEOUT_MS, describeDialError } from "./dial.ts";
import { sendRequest } from "./send-request.ts";

/** The real `CallWeb`. */
export const callWeb: CallWeb = async (call, signal) => {
  try {
    return await exchange(call, signal);
  } catch (error) {
    if (signal.aborted) throw new AbortedError();
    throw new CodedError("call-failed", describeDialError(error, call), { cause: error });
  }
};

async function exchange(call: WebCall, signal: AbortSignal): Promise<WebReply> {
  const { method, target, headers, body, tls, ...to } = call;
  const reply = await sendRequest(
    {
      to,
      method,
      path: target,
      headers,
      body,
      tls: { cert: tls?.cert, key: tls?.key, ca: tls?.ca, rejectUnauthorized: tls?.ca !== undefined },
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    },
    signal,
  );
  if (reply.kind === "upgraded") {
    reply.socket.destroy();
    throw new Error("the server switched to a protocol that nobody asked for");
  }
  const { status, message } = reply;
  const values = Object.entries(message.headersDistinct).map(([name, list = []]) => [name, list]);
  return { status, headers: Object.fromEntries(values), body: message };
}
