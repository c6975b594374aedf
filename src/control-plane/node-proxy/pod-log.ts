import { ApiError, type ApiErrorReason, badRequestError, REASON_CODES } from "../../api/api-error.ts";
import { isAbort } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";
import type { ServedAnswer, ServedRequest, TakenOver } from "../../host/http-server.ts";
import type { WebReply } from "../../host/web-call.ts";
import type { ConnectHandler } from "../ports/connect.ts";
import type { ConnectDeps } from "./connect-deps.ts";
import { failureAnswer, unexpectedFailure } from "./failure.ts";
import { readLogOptions } from "./log-options.ts";
import { formatHost, nodeTls } from "./node-call.ts";
import { type NodeFinder, reachNode } from "./node-location.ts";
import { chooseContainer, findPod } from "./pod-container.ts";
import { readStart } from "./read-start.ts";
import type { StreamTranslation } from "./stream-translation.ts";

type PodLogDeps = Pick<ConnectDeps, keyof NodeFinder | "callWeb" | "identity" | "streams">;

/** The length to which a node's error is repeated. */
const MAX_ERROR_BYTES = 50_000;

/** `pods/log`: passes on what the node sends for as long as it sends (pkg/registry/core/pod/rest/log.go). */
export function createPodLog(deps: PodLogDeps): ConnectHandler {
  const { reader, callWeb, identity, streams } = deps;
  return async ({ request, namespace, name }) => {
    const options = readLogOptions(request.query, name);
    const pod = findPod(reader, { namespace, name });
    const container = chooseContainer(pod, options.container);
    const nodeName = pod.spec?.nodeName ?? "";
    if (nodeName === "") return { status: 204, headers: {}, body: "" };
    const node = await reachNode(deps, nodeName, request.signal);
    const path = ["containerLogs", namespace, name, container].map((part) => `/${encodeURIComponent(part)}`).join("");
    const target = `${path}?${options.query}`;
    const call = { ...node, scheme: "https", method: "GET", target, headers: {}, tls: nodeTls(identity) } as const;
    let reply: WebReply;
    try {
      reply = await callWeb(call, request.signal);
    } catch (error) {
      if (isAbort(error)) throw error;
      return unexpectedFailure(`Get "https://${formatHost(node)}${target}": ${messageOf(error)}`);
    }
    if (reply.status >= 200 && reply.status <= 206) {
      if (streams.wantsWebSocket(request))
        return { status: 101, headers: {}, body: byWebSocket(streams, request, reply) };
      return { status: 200, headers: { "content-type": "text/plain" }, body: { source: reply.body } };
    }
    if (reply.headers["location"] !== undefined && reply.status >= 300 && reply.status < 400) {
      reply.body.destroy();
      return unexpectedFailure(`Get "${reply.headers["location"][0]}": redirects forbidden`);
    }
    const text = await readStart(reply.body, MAX_ERROR_BYTES).catch((error: unknown) => {
      throw new ApiError("InternalError", `Internal error occurred: ${messageOf(error)}`);
    });
    return refusal(reply.status, text, name);
  };
}

function byWebSocket(streams: StreamTranslation, request: ServedRequest, { body }: WebReply): TakenOver {
  return {
    takeOver: async (socket) => await streams.sendOutput({ request, socket, signal: request.signal }, body),
  };
}

/** Follows apiserver/pkg/registry/generic/rest/response_checker.go, with apimachinery's words for each code. */
function refusal(code: number, text: string, name: string): ServedAnswer {
  if (code === 500)
    throw new ApiError("InternalError", `Internal error occurred: ${text}`, { causes: [{ message: text }] });
  if (code === 400) throw badRequestError(text);
  const { reason, message } = CODE_WORDS[code] ?? otherWords(code, text);
  return failureAnswer({
    code,
    ...(reason !== undefined && { reason }),
    message: `${message ?? text} ( pods/log ${name})`,
    details: { name, kind: "pods/log" },
  });
}

interface CodeWords {
  readonly reason?: ApiErrorReason;
  /** Undefined: the message is the node's. */
  readonly message?: string;
}

const CODE_WORDS: Readonly<Record<number, CodeWords>> = {
  401: { reason: "Unauthorized", message: "the server has asked for the client to provide credentials" },
  403: { reason: "Forbidden" },
  404: { reason: "NotFound", message: "the server could not find the requested resource" },
  405: { reason: "MethodNotAllowed", message: "the server does not allow this method on the requested resource" },
  406: { reason: "NotAcceptable" },
  409: { reason: "Conflict", message: "the server reported a conflict" },
  415: { reason: "UnsupportedMediaType" },
  422: { reason: "Invalid", message: "the server rejected our request due to an error in our request" },
  429: {
    reason: "TooManyRequests",
    message: "the server has received too many requests and has asked us to try again later",
  },
  503: { reason: "ServiceUnavailable", message: "the server is currently unable to handle the request" },
  504: {
    reason: "Timeout",
    message: "the server was unable to return a response in the time allotted, but may still be processing the request",
  },
};

function otherWords(code: number, text: string): CodeWords {
  if (code > REASON_CODES.InternalError) {
    const message = `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
    return { reason: "InternalError", message };
  }
  return { message: `the server responded with the status code ${code} but did not return more information` };
}
