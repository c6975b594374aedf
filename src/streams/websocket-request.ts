import type { UpgradeRequest } from "./streams-call.ts";

/** The version of exec's and attach's channels in which a client can end its input; SPDY is spoken with the node for it. */
export const STREAM_PROTOCOL_V5 = "v5.channel.k8s.io";
/** Before a protocol's name: its SPDY connection travels inside a WebSocket. */
export const TUNNEL_PREFIX = "SPDY/3.1+";

/** Whether an exec or attach is for `translate`: a WebSocket that offers v5; all others are passed on to the node. */
export function wantsTranslation(request: Pick<UpgradeRequest, "header">): boolean {
  return isWebSocketRequest(request) && readSubprotocols(request).includes(STREAM_PROTOCOL_V5);
}

/** Whether a port-forward is for `tunnel`: a WebSocket that offers SPDY within it; all others are passed on to the node. */
export function wantsTunnel(request: Pick<UpgradeRequest, "header">): boolean {
  return isWebSocketRequest(request) && readTunnelProtocols(request).length > 0;
}

/** The protocols to be spoken inside the tunnel, most wanted first. */
export function readTunnelProtocols(request: Pick<UpgradeRequest, "header">): readonly string[] {
  return readSubprotocols(request)
    .filter((protocol) => protocol.startsWith(TUNNEL_PREFIX) && protocol.endsWith(".k8s.io"))
    .map((protocol) => protocol.slice(TUNNEL_PREFIX.length));
}

/** Whether a WebSocket is asked for, of whatever protocol. */
export function isWebSocketRequest(request: Pick<UpgradeRequest, "header">): boolean {
  return (
    request.header("upgrade").some((value) => value.toLowerCase() === "websocket") &&
    request.header("connection").some((value) => value.toLowerCase().includes("upgrade"))
  );
}

/** The protocols that the client offers, most wanted first. */
export function readSubprotocols(request: Pick<UpgradeRequest, "header">): readonly string[] {
  return request.header("sec-websocket-protocol").flatMap((value) => value.split(",").map((name) => name.trim()));
}
