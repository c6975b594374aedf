import { type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { AbortedError, throwIfAborted } from "../../../base/abort.ts";
import { CodedError } from "../../../base/errors.ts";
import type { CallWeb, WebCall, WebReply } from "../../web-call.ts";
import { describeDialError, limitConnecting } from "./dial.ts";

/** A peer that has gone without a word is noticed by TCP, as with Go's dialer. */
const KEEP_ALIVE_MS = 15_000;

/** The real `CallWeb`, over `node:http` and `node:https`. */
export const callWeb: CallWeb = async (call, signal) => {
  throwIfAborted(signal);
  return await new Promise<WebReply>((resolve, reject) => {
    const request = begin(call);
    const fail = (error: unknown) => {
      const message = describeDialError(error, call);
      reject(signal.aborted ? new AbortedError() : new CodedError("call-failed", message, { cause: error }));
    };
    const onAbort = () => request.destroy(new AbortedError());
    signal.addEventListener("abort", onAbort, { once: true });
    request.once("close", () => signal.removeEventListener("abort", onAbort));
    limitConnecting(request);
    // Listened to for good: a connection can break after the answer began, and its body says so to whoever reads it.
    request.on("error", fail);
    request.once("response", (response: IncomingMessage) => {
      // It may break before anybody reads it.
      response.on("error", () => undefined);
      resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: response });
    });
    // Without a listener an upgrade that nobody asked for would break the connection without a word.
    request.once("upgrade", (_response: IncomingMessage, socket: Socket) => {
      socket.destroy();
      fail(new Error("the server switched to a protocol that nobody asked for"));
    });
    if (call.body === undefined) request.end();
    else sendBody(call.body, request);
  });
};

function begin({ scheme, host, port, method, target, headers, tls }: WebCall): ClientRequest {
  const lists = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
    name,
    typeof value === "string" ? value : [...value],
  ]);
  const options = { host, port, method, path: target, headers: Object.fromEntries(lists), agent: false };
  const request =
    scheme === "http"
      ? requestPlain(options)
      : requestSecure({
          ...options,
          ...(tls?.cert !== undefined && { cert: tls.cert, key: tls.key }),
          ...(tls?.ca === undefined ? { rejectUnauthorized: false } : { ca: tls.ca }),
        });
  request.setSocketKeepAlive(true, KEEP_ALIVE_MS);
  request.setNoDelay(true);
  return request;
}

/** A server that answers before it has read everything leaves the body to be thrown away: its sender sees the answer. */
function sendBody(body: Readable, request: ClientRequest): void {
  body.once("error", (error) => request.destroy(error));
  body.once("close", () => {
    if (!body.readableEnded) request.destroy(new Error("unexpected EOF"));
  });
  request.once("close", () => {
    body.unpipe(request);
    body.resume();
  });
  body.pipe(request);
}

function headersOf({ headersDistinct }: IncomingMessage): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(headersDistinct).map(([name, values = []]) => [name, values]));
}
