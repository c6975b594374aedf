import { type Clock, MINUTE } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { HttpHandler, ServedResponse } from "../../host/http-server.ts";
import type { SecureHandler, SecureRequest, SecureResponse } from "../../host/secure-server.ts";
import type { Authenticate } from "./authenticate.ts";
import type { Authorize } from "./authorize.ts";
import { computeRequestAttributes } from "./request-attributes.ts";
import { findUnavailable, isUnavailable } from "./unavailable-endpoints.ts";

export interface NodeApiDeps {
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  /** What the read-only server serves too. */
  readonly readOnly: HttpHandler;
  /** The JSON of `/configz`. */
  readonly configz: () => string;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Log;
}

export interface NodeApiOptions {
  /** `enableDebuggingHandlers`. */
  readonly debuggingHandlers: boolean;
  /** `enableSystemLogHandler`. */
  readonly systemLogHandler: boolean;
}

/**
 * The node's own API: each request is authenticated, then authorized, and only then looked at (`InstallAuthFilter` of
 * pkg/kubelet/server/server.go, with its words). Whoever is refused loses the connection too: places are few. A path
 * that is nothing is answered as that to everybody, as there.
 */
export function createNodeApi(deps: NodeApiDeps, options: NodeApiOptions): SecureHandler {
  const complain = createComplaints(deps);
  const serve = createEndpoints(deps, options);
  return async (request) => {
    if (!isKnown(request.path)) return NOT_FOUND;
    const authentication = await deps.authenticate(request);
    if (authentication.kind === "refused") {
      const { reason } = authentication;
      if (reason !== undefined) complain("Unable to authenticate the request due to an error", { error: reason });
      return { status: 401, body: "Unauthorized", closes: true };
    }
    const { user } = authentication;
    const { verb, subresources } = computeRequestAttributes(request.method, request.path);
    for (const subresource of subresources) {
      const asked = `user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresource}`;
      try {
        if (await deps.authorize({ user, verb, subresource }, request.signal)) return await serve(request);
      } catch (error) {
        if (request.signal.aborted) throw error;
        complain("Authorization error", { user: user.name, verb, subresource, error: messageOf(error) });
        return { status: 500, body: `Authorization error (${asked})` };
      }
    }
    const asked = `user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(" ")}]`;
    return { status: 403, body: `Forbidden (${asked})\n` };
  };
}

function createEndpoints(
  { readOnly, configz }: NodeApiDeps,
  options: NodeApiOptions,
): (request: SecureRequest) => Promise<SecureResponse> | SecureResponse {
  const isDebugging = (path: string) => path === "/configz" || path.startsWith("/runningpods");
  return (request) => {
    const { path } = request;
    const unavailable = findUnavailable(path, options);
    if (unavailable !== undefined) return unavailable;
    if (!options.debuggingHandlers && isDebugging(path)) {
      return path === "/configz" ? NOT_FOUND : { status: 405, body: "Debug endpoints are disabled.\n" };
    }
    if (path !== "/configz") return readOnly(request);
    return { status: 200, contentType: "application/json", body: configz() };
  };
}

/** Served by this node, or by others. */
function isKnown(path: string): boolean {
  return /^\/(configz|healthz(\/.*)?|pods\/?|runningpods\/?|metrics)$/.test(path) || isUnavailable(path);
}

const NOT_FOUND: ServedResponse = { status: 404, body: "404 page not found\n" };

/** Anybody can make the server complain, as often as they like: the log has the first of a minute, and how many followed. */
function createComplaints({ clock, log }: Pick<NodeApiDeps, "clock" | "log">) {
  const told = new Map<string, { at: number; untold: number }>();
  return (message: string, fields: Record<string, string>): void => {
    const last = told.get(message);
    const now = clock.monotonic();
    if (last !== undefined && now - last.at < MINUTE) {
      last.untold++;
      return;
    }
    told.set(message, { at: now, untold: 0 });
    log.warn(message, { ...fields, ...(last !== undefined && last.untold > 0 && { alsoSince: last.untold }) });
  };
}
