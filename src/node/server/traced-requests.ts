import { messageOf } from "../../base/errors.ts";
import type { OpenSpan, Tracing } from "../../base/tracing.ts";
import type { HttpHandler, ServedAnswer, ServedRequest } from "../../host/http-server.ts";

/** The headers that carry a client's trace. */
const CONTEXT_HEADERS = ["traceparent", "tracestate"] as const;
/** The path parameters of the node's API, by its first segment, as upstream's routes have them. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  attach: ["podNamespace", "podID", "containerName"],
  checkpoint: ["podNamespace", "podID", "containerName"],
  containerLogs: ["podNamespace", "podID", "containerName"],
  exec: ["podNamespace", "podID", "containerName"],
  portForward: ["podNamespace", "podID"],
  run: ["podNamespace", "podID", "containerName"],
};
const FIRST_SERVER_FAILURE = 500;

/**
 * A handler that makes a trace of each request, as otelrestful does for a Go kubelet: the node's API is a public endpoint,
 * so that a client's trace is linked and not continued. The span ends when the answer has begun. Without tracing it is the
 * handler itself.
 */
export function traceRequests(handler: HttpHandler, tracing: Tracing | undefined): HttpHandler {
  if (tracing === undefined) return handler;
  return async (request) => {
    const span = begin(tracing, request);
    try {
      const answer = await span.within(async () => await handler(request));
      end(span, answer);
      return answer;
    } catch (error) {
      span.end(messageOf(error));
      throw error;
    }
  };
}

function begin(tracing: Tracing, request: ServedRequest): OpenSpan {
  const { method, path, remoteAddress } = request;
  const route = routeOf(path);
  const agent = request.header("user-agent")[0];
  const linkedWith = Object.fromEntries(
    CONTEXT_HEADERS.flatMap((name) =>
      request
        .header(name)
        .slice(0, 1)
        .map((value) => [name, value]),
    ),
  );
  return tracing.begin({
    name: route,
    kind: "server",
    isRoot: true,
    linkedWith,
    attributes: {
      "http.request.method": method,
      "url.scheme": "https",
      "url.path": path,
      "http.route": route,
      ...(remoteAddress !== "" && { "network.peer.address": remoteAddress }),
      ...(agent !== undefined && { "user_agent.original": agent }),
    },
  });
}

/** Names of pods are not part of a span's name, so that spans of one kind are found together. */
function routeOf(path: string): string {
  const [first = "", ...rest] = path.split("/").slice(1);
  const names = PARAMETERS[first];
  if (names === undefined) return first === "logs" ? "/logs/{logpath:*}" : path;
  return `/${[first, ...rest.map((segment, index) => (names[index] === undefined ? segment : `{${names[index]}}`))].join("/")}`;
}

function end(span: OpenSpan, { status }: ServedAnswer): void {
  span.annotate({ "http.response.status_code": status });
  span.end(status >= FIRST_SERVER_FAILURE ? `answered with ${status}` : undefined);
}
