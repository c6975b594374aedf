import type { Duplex, Readable } from "node:stream";
import type { ServedRequest } from "../../host/http-server.ts";
import type { UpgradeResult } from "../../host/upgrade-call.ts";
import type { RequestedStreams } from "../../streams/requested-streams.ts";

/** Clients that speak WebSockets while nodes speak SPDY. */
export interface StreamTranslation {
  /** True for an exec or attach that needs `translate`. */
  wantsTranslation(request: Pick<ServedRequest, "header">): boolean;
  /** True for a port-forward that needs `tunnel`. */
  wantsTunnel(request: Pick<ServedRequest, "header">): boolean;
  /** True for a request that wants a log by `sendOutput`. */
  wantsWebSocket(request: Pick<ServedRequest, "header">): boolean;
  /** Takes the client's connection, answers it, and resolves when it is over; never rejects. */
  translate(call: TranslatedCall, streams: RequestedStreams): Promise<void>;
  tunnel(call: TranslatedCall): Promise<void>;
  sendOutput(call: Omit<TranslatedCall, "connect">, output: Readable): Promise<void>;
}

/** A request that is still unanswered, and the way to the node. */
export interface TranslatedCall {
  readonly request: Pick<ServedRequest, "method" | "header">;
  readonly socket: Duplex;
  /** Asks the node for SPDY, with these headers. */
  connect(headers: Readonly<Record<string, string | readonly string[]>>, signal: AbortSignal): Promise<UpgradeResult>;
  readonly signal: AbortSignal;
}
