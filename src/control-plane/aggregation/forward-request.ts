import { ApiError, badRequestError } from "../../api/api-error.ts";
import { childController, isAbort } from "../../base/abort.ts";
import { type Clock, SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import type { ResolveHost } from "../../host/resolve-host.ts";
import type { CallUpgrade } from "../../host/upgrade-call.ts";
import type { CallWeb, WebReply, WebServer } from "../../host/web-call.ts";
import type { GroupVersion } from "../discovery/api-table.ts";
import { forwardUpgrade, upgradeTls } from "../node-proxy/forward-upgrade.ts";
import { forwardedFor, forwardedHeaders, withoutHopByHop } from "../node-proxy/forwarded-headers.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { User } from "../ports/user.ts";
import type { Backends } from "./backends.ts";
import { type BackendServer, backendTls, locateBackend, withAddresses } from "./locate-backend.ts";
import { isUserHeader, userHeaders } from "./user-headers.ts";

/** What is asked, as far as it says who answers. */
type ForwardTarget =
  | {
      readonly isResource: true;
      readonly group: string;
      readonly version: string;
      readonly verb: string;
      /** The end of the path, which names nothing that access is decided by. */
      readonly rest: string;
    }
  | { readonly isResource: false; readonly path: string };

/** Passes a request on in the user's name; undefined for one that this API server answers. Throws ApiErrors. */
export type ForwardRequest = (
  request: ServedRequest,
  target: ForwardTarget,
  user: User,
) => Promise<ServedAnswer> | undefined;

/** The ways to the API servers of others. */
export interface BackendCalls {
  readonly callWeb: CallWeb;
  readonly callUpgrade: CallUpgrade;
  readonly resolveHost: ResolveHost;
  /** The certificate by which they know us, in PEM. */
  readonly identity: { readonly certificatePem: string; readonly keyPem: string };
  readonly clock: Pick<Clock, "setTimer">;
  readonly reader: ResourceReader;
  /** At least 0, less than 1: chooses an endpoint. */
  random(): number;
}

/** How long a backend may think before its answer begins, as upstream's limit of requests; a watch may be quiet. */
const ANSWER_TIMEOUT_MS = 60 * SECOND;

/** As upstream's proxy says it: no Status, so that clients tell their own words for a server that is out of reach. */
const NOT_AVAILABLE: ServedAnswer = {
  status: 503,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: "service unavailable\n",
};

/** Passes requests for the groups and versions of backends on. */
export function createForwarding(calls: BackendCalls, backends: Backends): ForwardRequest {
  return (request, target, user) => {
    const at = groupVersionOf(target);
    const backend = at && backends.find(at);
    if (backend === undefined) return undefined;
    return (async () => {
      if (target.isResource && hasDetour(request.path, target.rest)) {
        throw badRequestError("the path has a step upwards, or a slash in a name");
      }
      const location = locateBackend(calls.reader, backend, calls.random);
      if (!backend.isAvailable || !location.found) return NOT_AVAILABLE;
      const isWatch = target.isResource && target.verb === "watch";
      const query = request.rawQuery === "" ? "" : `?${request.rawQuery}`;
      const call = {
        server: location.server,
        tls: backendTls(backend, calls.identity),
        target: `${request.path}${query}`,
        headers: userHeaders(user),
      };
      if (request.isUpgrade) {
        const { tls, target: path, headers } = call;
        const server = await reach(calls, call.server, request.signal);
        const asked = withoutUserHeaders(request);
        return await forwardUpgrade(calls.callUpgrade, asked, {
          ...{ ...server, target: path, tls: upgradeTls(tls), addedHeaders: headers },
        });
      }
      return await exchange(calls, request, { ...call, timeoutMs: isWatch ? undefined : ANSWER_TIMEOUT_MS });
    })();
  };
}

/**
 * True for a path that a backend may read as another one than access was decided by: it may decode and clean the path
 * before it splits it.
 */
function hasDetour(path: string, rest: string): boolean {
  const named = path.slice(0, path.length - rest.length);
  if (/%2f/i.test(named)) return true;
  try {
    return decodeURIComponent(path)
      .split("/")
      .some((part) => part === "." || part === "..");
  } catch {
    return true;
  }
}

function groupVersionOf(target: ForwardTarget): GroupVersion | undefined {
  if (target.isResource) return target;
  const [, group, version] = /^\/apis\/([^/]+)\/([^/]+)\/?$/.exec(target.path) ?? [];
  return group === undefined || version === undefined ? undefined : { group, version };
}

interface Forwarded {
  readonly server: BackendServer;
  readonly tls: ReturnType<typeof backendTls>;
  readonly target: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly timeoutMs: number | undefined;
}

async function exchange(
  calls: BackendCalls,
  request: ServedRequest,
  { server, tls, target, headers, timeoutMs }: Forwarded,
): Promise<ServedAnswer> {
  const { controller, release } = childController(request.signal);
  let isLate = false;
  const giveUp = () => {
    isLate = true;
    controller.abort();
  };
  const timer = timeoutMs === undefined ? undefined : calls.clock.setTimer(timeoutMs, giveUp);
  const body = request.bodyStream();
  let reply: WebReply;
  try {
    const sent = {
      ...withoutHopByHop(forwardedHeaders(withoutUserHeaders(request))),
      ...headers,
      "x-forwarded-for": [forwardedFor(request)],
    };
    const at = await withAddresses(calls.resolveHost, server, controller.signal);
    const call = { ...at, method: request.method, target, tls, headers: sent, ...(body && { body }) };
    reply = await calls.callWeb(call, controller.signal);
  } catch (error) {
    release();
    if (isLate) throw new ApiError("Timeout", "the API server that answers for this group did not answer in time");
    if (isAbort(error)) throw error;
    throw unavailable(`error trying to reach service: ${messageOf(error)}`);
  } finally {
    timer?.cancel();
  }
  // The client may leave before all of the answer has come.
  reply.body.once("close", release);
  return { status: reply.status, headers: withoutHopByHop(reply.headers), body: { source: reply.body } };
}

/** The server with its addresses. Throws ServiceUnavailable where it has none. */
async function reach({ resolveHost }: BackendCalls, server: BackendServer, signal: AbortSignal): Promise<WebServer> {
  try {
    return await withAddresses(resolveHost, server, signal);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw unavailable(`error trying to reach service: ${messageOf(error)}`);
  }
}

/** The request without the headers that only we may send to a backend. */
function withoutUserHeaders(
  request: ServedRequest,
): Pick<ServedRequest, "headersBeginning" | "header" | "method" | "remoteAddress" | "signal"> {
  const { method, remoteAddress, signal } = request;
  return {
    method,
    remoteAddress,
    signal,
    header: (name) => (isUserHeader(name) ? [] : request.header(name)),
    headersBeginning: (prefix) => {
      const all = Object.entries(request.headersBeginning(prefix));
      return Object.fromEntries(all.filter(([name]) => !isUserHeader(name)));
    },
  };
}

const unavailable = (message: string) => new ApiError("ServiceUnavailable", message);
