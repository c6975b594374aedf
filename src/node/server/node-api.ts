import { type Clock, MINUTE } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { HttpHandler, Page, PageHandler, ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import { type Authenticate, isProven } from "./authenticate.ts";
import type { AuthorizeNodeAction } from "./authorize.ts";
import { type EndpointGates, findClosed, isBeneath } from "./endpoint-gates.ts";
import { computeRequestAttributes } from "./request-attributes.ts";
import { findUnavailable } from "./unavailable-endpoints.ts";

/** Serves a root of the API and everything below it. The request is already authorized. */
export type NodeEndpoint = (request: ServedRequest) => Promise<ServedAnswer> | ServedAnswer;

interface NodeApiDeps {
  readonly authenticate: Authenticate;
  readonly authorize: AuthorizeNodeAction;
  /** Serves the pages that the read-only server serves too. */
  readonly readOnly: PageHandler;
  /** The JSON of `/configz`. */
  readonly configz: () => string;
  /**
   * The endpoints by root (`/exec`, `/stats/summary`). The longest root that is the path, or lies above it, serves the
   * path.
   */
  readonly endpoints: Readonly<Record<string, NodeEndpoint>>;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Log;
}

/**
 * Creates the handler of the node's own API. Each request is authenticated, then authorized, and only then served
 * (`InstallAuthFilter` of pkg/kubelet/server/server.go, with its words). An unauthenticated client also loses its
 * connection, because connections are few. As upstream does, an unknown path is answered as not found to every client.
 */
export function createNodeApi(deps: NodeApiDeps, gates: EndpointGates): HttpHandler {
  const complain = createComplaints(deps);
  const find = createLookup(deps);
  return async (request) => {
    const endpoint = find(request.path);
    if (endpoint === undefined) return NOT_FOUND;
    const { peer, remoteAddress, signal } = request;
    const authorization = request.header("authorization")[0];
    const authentication = await deps.authenticate({ authorization, peer, remoteAddress, signal });
    if (authentication.kind === "refused") {
      const { reason } = authentication;
      if (reason !== undefined) complain("Unable to authenticate the request due to an error", { error: reason });
      return { status: 401, body: "Unauthorized", closes: true };
    }
    const { user } = authentication;
    if (isProven(user)) request.vouch(user.name);
    const { verb, subresources } = computeRequestAttributes(request.method, request.path);
    for (const subresource of subresources) {
      const asked = `user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresource}`;
      try {
        if (await deps.authorize({ user, verb, subresource }, request)) {
          return findClosed(request.path, gates) ?? (await endpoint(request));
        }
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

/** Finds the endpoint of a path. The result is undefined for an unknown path. */
function createLookup({ readOnly, configz, endpoints }: NodeApiDeps): (path: string) => NodeEndpoint | undefined {
  const longestFirst = Object.entries(endpoints).sort(([one], [other]) => other.length - one.length);
  return (path) => {
    const found = longestFirst.find(([root]) => isBeneath(path, root));
    if (found !== undefined) return found[1];
    if (path === "/configz") {
      return () => ({ status: 200, headers: { "content-type": "application/json" }, body: configz() });
    }
    const unavailable = findUnavailable(path);
    if (unavailable !== undefined) return () => unavailable;
    return READ_ONLY.test(path) ? readOnly : undefined;
  };
}

const READ_ONLY = /^\/(healthz(\/.*)?|pods\/?|runningpods\/?|metrics(\/slis)?)$/;

const NOT_FOUND: Page = { status: 404, body: "404 page not found\n" };

/**
 * Logs complaints sparingly, because any client can cause as many as it likes. The log shows the first complaint of a
 * minute, and how many followed.
 */
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
