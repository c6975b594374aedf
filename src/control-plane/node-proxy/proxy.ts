import { Readable } from "node:stream";
import { ApiError } from "../../api/api-error.ts";
import { isAbort } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";
import type { ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import type { CallUpgrade } from "../../host/upgrade-call.ts";
import type { CallWeb, WebReply } from "../../host/web-call.ts";
import type { ConnectCall } from "../ports/connect.ts";
import type { Destination } from "./destinations.ts";
import { forwardUpgrade, upgradeTls } from "./forward-upgrade.ts";
import { forwardedFor, forwardedHeaders, withoutHopByHop } from "./forwarded-headers.ts";
import { formatHost } from "./node-call.ts";
import { cleanPath } from "./proxy-path.ts";
import { rewriteLinks } from "./rewrite-links.ts";
import { rewriteLocation } from "./rewrite-location.ts";

interface ProxyDeps {
  readonly callWeb: CallWeb;
  readonly callUpgrade: CallUpgrade;
}

/** A server's rules for who may read its answers hold for its own name, not for the API server's. */
const CORS_HEADERS = new Set([
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
]);

/**
 * Passes any request on and its answer back, as the reverse proxy of kube-apiserver does (apimachinery/pkg/util/proxy).
 * Redirects and the links of pages lead through the proxy.
 */
export async function proxyTo(deps: ProxyDeps, call: ConnectCall, to: Destination): Promise<ServedAnswer> {
  const { request } = call;
  const path = cleanPath(call.rest);
  const target = `${path === "" ? "/" : path}${queryOf(request)}`;
  if (request.isUpgrade) {
    return await forwardUpgrade(deps.callUpgrade, request, { ...to, target, tls: upgradeTls(to.tls) });
  }
  if (path === "" && (request.method === "GET" || request.method === "HEAD")) {
    // Relative links of a page there are meant from inside of the directory.
    return { status: 301, headers: { location: `${request.path}/${queryOf(request)}` }, body: "" };
  }
  return await exchange(deps.callWeb, call, { ...to, target, path });
}

const queryOf = ({ rawQuery }: ServedRequest) => (rawQuery === "" ? "" : `?${rawQuery}`);

interface Target extends Destination {
  /** Path and query, as they are sent. */
  readonly target: string;
  readonly path: string;
}

async function exchange(callWeb: CallWeb, { request, rest }: ConnectCall, to: Target): Promise<ServedAnswer> {
  const { path, ...server } = to;
  const prefix = request.path.slice(0, request.path.length - rest.length);
  const headers = {
    ...withoutHopByHop(forwardedHeaders(request)),
    ...hostOf(request, to),
    "x-forwarded-for": [forwardedFor(request)],
    "x-forwarded-uri": [`${prefix}${path}`],
  };
  const body = request.bodyStream();
  let reply: WebReply;
  try {
    reply = await callWeb({ ...server, method: request.method, headers, ...(body && { body }) }, request.signal);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError("ServiceUnavailable", `error trying to reach service: ${messageOf(error)}`);
  }
  const kept = Object.entries(withoutHopByHop(reply.headers)).filter(([name]) => !CORS_HEADERS.has(name));
  const location = reply.headers["location"]?.[0];
  const hosts = [formatHost(to), ...request.header("host")];
  const headersOf = (more: object) => ({ ...Object.fromEntries(kept), ...more });
  if (location !== undefined) {
    const moved = { location: rewriteLocation(location, { prefix, hosts }) };
    return { status: reply.status, headers: headersOf(moved), body: { source: reply.body } };
  }
  if (!isPage(reply)) return { status: reply.status, headers: headersOf({}), body: { source: reply.body } };
  const { "content-length": _other, ...paged } = headersOf({});
  const page = rewriteLinks(reply.body, (link) => rewriteLocation(link, { prefix, hosts }));
  return { status: reply.status, headers: paged, body: { source: Readable.from(page) } };
}

/** True for a page whose links can be read. */
function isPage({ headers }: WebReply): boolean {
  const [type = ""] = headers["content-type"] ?? [];
  return type.split(";")[0]?.trim().toLowerCase() === "text/html" && headers["content-encoding"] === undefined;
}

/** The host that the client asked, as upstream passes it on; HTTP/2 has another header for it. */
function hostOf(request: ServedRequest, to: Destination): { host: string } {
  const [host = request.header(":authority")[0]] = request.header("host");
  return { host: host ?? formatHost(to) };
}
