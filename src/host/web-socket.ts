import type { Duplex } from "node:stream";
import type { Clock } from "../base/clock.ts";

/**
 * Accepts a client's WebSocket (RFC 6455, without extensions). It writes the answer to the client's request, and owns
 * the socket from then on. Nothing that a client sends makes it throw, and a client that does not read holds no more
 * than a few buffers.
 */
export type AcceptWebSocket = (parts: WebSocketParts) => ServedWebSocket;

export interface WebSocketParts {
  readonly clock: Pick<Clock, "setTimer" | "monotonic">;
  readonly socket: Duplex;
  /** `Sec-WebSocket-Key` of the request, which asks for a WebSocket of version 13. */
  readonly key: string;
  /** The protocol within the WebSocket that the answer names; undefined for none. */
  readonly protocol: string | undefined;
  readonly handler: WebSocketHandler;
  /** Ends the connection when no message came or went for this many milliseconds. Default: never. */
  readonly idleTimeoutMs?: number;
}

/** The receiver of what the client sends. */
export interface WebSocketHandler {
  /** A whole message, which may be empty. */
  message(bytes: Buffer, isText: boolean): void;
  /** The client will send no more; called once. */
  end(): void;
}

/** A client's WebSocket, accepted. */
export interface ServedWebSocket {
  /**
   * Sends one binary message made of these pieces. `done` is called when there is room for more, with an error when the
   * client has gone.
   */
  send(pieces: readonly Buffer[], done: (error: Error | null) => void): void;
  /**
   * Stops receiving until `resume`, but for the bytes that are already here. Meanwhile the client is shown that this
   * side lives.
   */
  pause(): void;
  resume(): void;
  /** Sends the waiting messages, then the close. The client may take `graceMs` for both. Idempotent. */
  close(code: number, graceMs?: number): void;
  /** Resolves when the socket has closed and no work is left. */
  readonly closed: Promise<void>;
}

/** Why a WebSocket is closed. */
export const CLOSE_CODES = { normal: 1000, goingAway: 1001, unsupportedData: 1003 } as const;

/** A longer message closes the connection with the code 1009, as in kube-apiserver. */
export const MAX_WEB_SOCKET_MESSAGE_BYTES = 32 * 1024 * 1024;
