import type { Duplex } from "node:stream";
import type { UpgradeResult } from "../host/upgrade-call.ts";

/** The part of a client's upgrade request that matters here. */
export interface UpgradeRequest {
  readonly method: string;
  /** The values of a header in the order sent, by its lower-case name. */
  header(name: string): readonly string[];
}

/** A client's request, of which nothing has been answered. */
export interface StreamsCall {
  readonly request: UpgradeRequest;
  /** The client's connection, after the head of its request. The head of the answer is written here, too. */
  readonly socket: Duplex;
  readonly connect: ConnectNode;
  /** Fires when the server closes, and ends the call. */
  readonly signal: AbortSignal;
}

/**
 * Calls the node's endpoint with POST. The headers are those that ask for SPDY and its protocol; the implementation may
 * add those of the client, except those of its WebSocket. Rejects with a message for the client where the node cannot be
 * reached.
 */
export type ConnectNode = (
  headers: Readonly<Record<string, string | readonly string[]>>,
  signal: AbortSignal,
) => Promise<UpgradeResult>;
