import { ApiError } from "../../api/api-error.ts";
import { leadsIntoContainers } from "../../api/node-api-paths.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { ConnectHandler } from "../ports/connect.ts";
import type { ConnectDeps } from "./connect-deps.ts";
import { createDestinations, type Destinations } from "./destinations.ts";
import { unexpectedFailure } from "./failure.ts";
import { createPodLog } from "./pod-log.ts";
import { createPodStream } from "./pod-stream.ts";
import { proxyTo } from "./proxy.ts";
import { readPlainPath } from "./proxy-path.ts";

/** The methods that are passed on, as in pkg/registry/core/pod/rest/subresources.go. */
const PROXIED_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
/** Browsers begin a WebSocket with GET. */
const STREAM_METHODS = ["GET", "POST"];

/** The handlers that lead to a node or to pods on it, by resource and subresource: `pods/log`. */
export function createNodeProxy(deps: ConnectDeps): ReadonlyMap<string, ConnectHandler> {
  const destinations = createDestinations(deps);
  return new Map<string, ConnectHandler>([
    ["pods/log", only(["GET", "HEAD"], createPodLog(deps))],
    ["pods/exec", only(STREAM_METHODS, createPodStream(deps, "exec"))],
    ["pods/attach", only(STREAM_METHODS, createPodStream(deps, "attach"))],
    ["pods/portforward", only(STREAM_METHODS, createPodStream(deps, "portForward"))],
    ["pods/proxy", only(PROXIED_METHODS, (call) => proxyTo(deps, call, destinations.ofPod(call)))],
    ["services/proxy", only(PROXIED_METHODS, (call) => proxyTo(deps, call, destinations.ofService(call)))],
    ["nodes/proxy", only(PROXIED_METHODS, createProxyToNode(deps, destinations))],
  ]);
}

/**
 * Passes requests to a node on. The node knows the API server and not its client, so what leads into containers is asked
 * of the client here: a WebSocket, which begins with GET, needs `create` as every other request does.
 */
function createProxyToNode(deps: ConnectDeps, { ofNode }: Pick<Destinations, "ofNode">): ConnectHandler {
  return async (call) => {
    const path = readPlainPath(call.rest);
    if (path === undefined || leadsIntoContainers(path)) call.requireVerb("create");
    return await proxyTo(deps, call, await ofNode(call));
  };
}

function only(methods: readonly string[], handler: ConnectHandler): ConnectHandler {
  return async (call) => {
    if (!methods.includes(call.request.method)) {
      throw new ApiError("MethodNotAllowed", "the server does not allow this method on the requested resource");
    }
    try {
      return await handler(call);
    } catch (error) {
      if (codeOf(error) !== "no-address") throw error;
      return unexpectedFailure(messageOf(error));
    }
  };
}
