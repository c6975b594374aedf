import { ApiError } from "../../api/api-error.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { ConnectHandler } from "../ports/connect.ts";
import type { ConnectDeps } from "./connect-deps.ts";
import { createDestinations } from "./destinations.ts";
import { unexpectedFailure } from "./failure.ts";
import { createPodLog } from "./pod-log.ts";
import { createPodStream } from "./pod-stream.ts";
import { proxyTo } from "./proxy.ts";

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
    ["nodes/proxy", only(PROXIED_METHODS, async (call) => await proxyTo(deps, call, await destinations.ofNode(call)))],
  ]);
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
