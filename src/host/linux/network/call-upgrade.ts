import { type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Duplex } from "node:stream";
import { AbortedError, throwIfAborted } from "../../../base/abort.ts";
import { CodedError } from "../../../base/errors.ts";
import type { CallUpgrade, UpgradeCall, UpgradeResult } from "../../upgrade-call.ts";
import { addressOf, describeDialError, limitConnecting } from "./dial.ts";

/** A peer that has gone without a word is noticed by TCP: as Go's dialer. */
const KEEP_ALIVE_MS = 15_000;

/** The real `CallUpgrade`, over `node:http` and `node:https`, on a connection of its own. */
export const callUpgrade: CallUpgrade = async (call, signal) => {
  throwIfAborted(signal);
  return await new Promise<UpgradeResult>((resolve, reject) => {
    const request = begin(call);
    const onAbort = () => {
      request.destroy();
      reject(new AbortedError());
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const settle = (result: UpgradeResult) => {
      signal.removeEventListener("abort", onAbort);
      resolve(result);
    };
    request.once("upgrade", (response: IncomingMessage, socket: Duplex, head: Buffer) => {
      // HTTP has let go of it, and an error that nobody hears ends the process.
      socket.on("error", () => socket.destroy());
      if (head.length > 0) socket.unshift(head);
      settle({ kind: "upgraded", headers: headersOf(response), socket });
    });
    request.once("response", (response) => {
      const status = response.statusCode ?? 0;
      settle({ kind: "answered", status, headers: headersOf(response), body: response });
    });
    // Listened to for good: a connection can break after the result, and its socket or body says so to whoever has it.
    request.on("error", (error) => {
      signal.removeEventListener("abort", onAbort);
      const message = describeDialError(error, addressOf(call.url));
      reject(new CodedError("call-failed", message, { cause: error }));
    });
    request.end();
  });
};

function begin({ url, method, headers, tls }: UpgradeCall): ClientRequest {
  const lists = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
    name,
    // Node.js takes no list of one for what there can only be one of: `host`.
    typeof value === "string" ? value : value.length === 1 ? String(value[0]) : [...value],
  ]);
  // What came of it may be said to its end by either side, while the other still talks.
  const options = { method, headers: Object.fromEntries(lists), agent: false, allowHalfOpen: true };
  const request = url.protocol === "https:" ? requestSecure(url, { ...options, ...tls }) : requestPlain(url, options);
  limitConnecting(request);
  request.setSocketKeepAlive(true, KEEP_ALIVE_MS);
  request.setNoDelay(true);
  return request;
}

/** By lower-case names; several of one name as a list, in their order. */
function headersOf({ headersDistinct }: IncomingMessage): Record<string, string | string[]> {
  const entries = Object.entries(headersDistinct).map(([name, values = []]): [string, string | string[]] => {
    const [first = "", ...others] = values;
    return [name, others.length === 0 ? first : values];
  });
  return Object.fromEntries(entries);
}
