import type { Readable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { AcceptWebSocket } from "../host/web-socket.ts";
import type { RequestedStreams } from "./requested-streams.ts";
import { sendOutput } from "./send-output.ts";
import type { StreamsCall } from "./streams-call.ts";
import { translateStreams } from "./translate-streams.ts";
import { tunnelSpdy } from "./tunnel-spdy.ts";

/**
 * What kube-apiserver does since 1.29 with clients that speak WebSockets, while nodes speak SPDY
 * (apiserver/pkg/util/proxy/{streamtranslator,streamtunnel}.go).
 */
interface WebSocketStreams {
  /**
   * exec and attach, for a request that `wantsTranslation`: accepts the WebSocket, connects to the node, and carries the
   * channels until the command has ended. What fails from there on is told as a Status in the error channel.
   * Resolves when it is over and the socket is destroyed; never rejects.
   */
  translate(call: StreamsCall, streams: RequestedStreams): Promise<void>;
  /**
   * Port-forward, for a request that `wantsTunnel`: connects to the node first, whose refusal is the client's answer;
   * then accepts the WebSocket and carries the bytes of the SPDY connection in it. Resolves and rejects as `translate`.
   */
  tunnel(call: StreamsCall): Promise<void>;
  /** A log, for a request that `isWebSocketRequest`. Resolves as `translate`. */
  sendOutput(call: Omit<StreamsCall, "connect">, output: Readable): Promise<void>;
}

/** Where the streams' requests are counted. */
interface WebSocketStreamsDeps {
  readonly acceptWebSocket: AcceptWebSocket;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "counter">;
}

/** The metrics are `apiserver_stream_translator_requests_total` and `apiserver_stream_tunnel_requests_total`. */
export function createWebSocketStreams({ metrics, ...deps }: WebSocketStreamsDeps): WebSocketStreams {
  const translated = metrics.counter(
    "apiserver_stream_translator_requests_total",
    "Total number of requests that were handled by the StreamTranslatorProxy, which processes streaming RemoteCommand/V5",
    ["code"],
  );
  const tunnelled = metrics.counter(
    "apiserver_stream_tunnel_requests_total",
    "Total number of requests that were handled by the StreamTunnelProxy, which processes streaming PortForward/V2",
    ["code"],
  );
  return {
    translate: async (call, streams) => {
      const count = (code: number) => translated.add({ code: String(code) });
      await translateStreams({ ...deps, count }, call, streams);
    },
    tunnel: async (call) => {
      const count = (code: number) => tunnelled.add({ code: String(code) });
      await tunnelSpdy({ ...deps, count }, call);
    },
    sendOutput: async (call, output) => await sendOutput(deps, call, output),
  };
}
