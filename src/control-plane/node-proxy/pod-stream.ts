import { badRequestError } from "../../api/api-error.ts";
import { EXTENDS_WEB_SOCKETS } from "../../api/declared-features.ts";
import type { Pod } from "../../api/gen/types.ts";
import type { ServedRequest, TakenOver } from "../../host/http-server.ts";
import type { UpgradeCall } from "../../host/upgrade-call.ts";
import type { ConnectCall, ConnectHandler } from "../ports/connect.ts";
import type { ConnectDeps } from "./connect-deps.ts";
import { forwardUpgrade, upgradeHeaders, upgradeTls } from "./forward-upgrade.ts";
import { nodeTls } from "./node-call.ts";
import { type NodeFinder, reachNode } from "./node-location.ts";
import { chooseContainer, findPod } from "./pod-container.ts";
import { encodeQuery, readInteger } from "./query-values.ts";
import { encodeStreams, readStreams } from "./stream-options.ts";
import type { TranslatedCall } from "./stream-translation.ts";

type PodStreamDeps = Pick<ConnectDeps, keyof NodeFinder | "callUpgrade" | "identity" | "streams">;

/** The first part of the path in the node's API. */
type StreamKind = "exec" | "attach" | "portForward";

/**
 * `pods/exec`, `pods/attach`, `pods/portforward`: the bytes of another protocol, carried between client and node
 * (pkg/registry/core/pod/rest/subresources.go). The requests of clients that speak WebSockets are translated for
 * nodes that do not declare that they understand them.
 */
export function createPodStream(deps: PodStreamDeps, kind: StreamKind): ConnectHandler {
  return async (call) => {
    const { request, namespace, name } = call;
    // A WebSocket, whose request is a GET, needs it, too (since 1.35: AuthorizePodWebsocketUpgradeCreatePermission).
    call.requireVerb("create");
    const asked = describeStream(findPod(deps.reader, { namespace, name }), kind, call);
    const { features, ...node } = await reachNode(deps, asked.node, request.signal);
    if (!request.isUpgrade) throw badRequestError("Upgrade request required");
    const tls = upgradeTls(nodeTls(deps.identity));
    const backend = { ...node, scheme: "https", target: asked.target, tls } as const;
    const isTranslated = kind === "portForward" ? deps.streams.wantsTunnel : deps.streams.wantsTranslation;
    if (isTranslated(request) && !features.includes(EXTENDS_WEB_SOCKETS))
      return { status: 101, headers: {}, body: translate(deps, kind, { request, backend }) };
    return await forwardUpgrade(deps.callUpgrade, request, backend);
  };
}

interface Translation {
  readonly request: ServedRequest;
  readonly backend: Omit<UpgradeCall, "method" | "headers">;
}

/** The translation answers the client and then asks the node, or the other way round. */
function translate(
  { callUpgrade, streams }: PodStreamDeps,
  kind: StreamKind,
  { request, backend }: Translation,
): TakenOver {
  const forwarded = upgradeHeaders(request, { isTranslated: true });
  return {
    async takeOver(socket) {
      const call: TranslatedCall = {
        request,
        socket,
        connect: async (headers, signal) => {
          return await callUpgrade({ ...backend, method: "POST", headers: { ...forwarded, ...headers } }, signal);
        },
        signal: request.signal,
      };
      if (kind === "portForward") await streams.tunnel(call);
      else await streams.translate(call, readStreams(request.query));
    },
  };
}

/** The node that is asked, and the path of the request. */
function describeStream(pod: Pod, kind: StreamKind, { request, namespace, name }: ConnectCall) {
  const { query } = request;
  const container = kind === "portForward" ? [] : [chooseContainer(pod, query.get("container") ?? "")];
  const node = pod.spec?.nodeName ?? "";
  if (node === "") throw badRequestError(`pod ${name} does not have a host assigned`);
  const path = [kind, namespace, name, ...container].map((part) => `/${encodeURIComponent(part)}`).join("");
  const asked = kind === "portForward" ? encodePorts(query) : encodeStreams(readStreams(query), commandOf(kind, query));
  return { node, target: asked === "" ? path : `${path}?${asked}` };
}

const commandOf = (kind: StreamKind, query: URLSearchParams) => (kind === "exec" ? query.getAll("command") : []);

/** WebSockets name their ports in the query, once or several times. */
function encodePorts(query: URLSearchParams): string {
  const ports = query.getAll("ports").flatMap((text) => text.split(",").map((port) => readPort(port)));
  return ports.length === 0 ? "" : encodeQuery([["port", ports.join(",")]]);
}

function readPort(text: string): string {
  return String(readInteger(new URLSearchParams({ port: text.trim() }), "port") ?? "");
}
