import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { ServedRequest } from "../../../host/http-server.ts";
import type { AcceptWebSocket } from "../../../host/web-socket.ts";
import type { RequestedStreams } from "../../../streams/requested-streams.ts";
import type { StreamsCall } from "../../../streams/streams-call.ts";
import { translateStreams } from "../../../streams/translate-streams.ts";
import { tunnelSpdy } from "../../../streams/tunnel-spdy.ts";
import { wantsTranslation, wantsTunnel } from "../../../streams/websocket-request.ts";

interface CarriedStreamsDeps {
  readonly acceptWebSocket: AcceptWebSocket;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Clients that speak WebSockets of `v5.channel.k8s.io` or SPDY within one, at a node whose runtime speaks SPDY alone. The
 * API server passes them on to a node that declares `ExtendWebSocketsToKubelet`.
 */
export interface CarriedStreams {
  /** Carries the channels of an exec or attach; undefined: the runtime is to speak with the client itself. */
  channels(request: ServedRequest, streams: RequestedStreams): ((call: StreamsCall) => Promise<void>) | undefined;
  /** Carries the tunnel of a port-forward; undefined as above. */
  tunnel(request: ServedRequest): ((call: StreamsCall) => Promise<void>) | undefined;
}

/** `idleTimeoutMs`: a connection without a byte for this long is ended; 0 means never. */
export function createCarriedStreams(
  deps: CarriedStreamsDeps,
  { idleTimeoutMs }: { readonly idleTimeoutMs: number },
): CarriedStreams {
  // Upstream counts these requests at API servers alone.
  const parts = { ...deps, idleTimeoutMs, count: () => undefined };
  return {
    channels: (request, streams) =>
      wantsTranslation(request) ? async (call) => await translateStreams(parts, call, streams) : undefined,
    tunnel: (request) => (wantsTunnel(request) ? async (call) => await tunnelSpdy(parts, call) : undefined),
  };
}

/** A node that declares nothing: every client speaks with the runtime itself. */
export const NONE_CARRIED: CarriedStreams = { channels: () => undefined, tunnel: () => undefined };
