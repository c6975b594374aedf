import type { Duplex } from "node:stream";
import type { UpgradeResult } from "../../host/upgrade-call.ts";

/** What is looked at of a client's request that asks for another protocol. */
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
  /** Ends it: the server closes. */
  readonly signal: AbortSignal;
}

/**
 * Calls the node's endpoint with POST. The headers are those that ask for SPDY and its protocol; who forwards others of
 * the client adds them, but none of its WebSocket. Rejects where the node cannot be reached: the message is told.
 */
export type ConnectNode = (
  headers: Readonly<Record<string, string | readonly string[]>>,
  signal: AbortSignal,
) => Promise<UpgradeResult>;
