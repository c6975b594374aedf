import type { KubeCallOptions } from "../port.ts";

/** A request of the API. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Includes the query, without the server's own path. */
  readonly path: string;
  /** Default: JSON. */
  readonly contentType?: string | undefined;
  readonly body?: object | undefined;
}

/** A success that streams, until it is released. */
interface OpenStream {
  /** Rejects as WireAnswer's `read` does. */
  read(onChunk: (chunk: Buffer) => void): Promise<void>;
  release(): void;
}

/** Requests with everything around them: limiter, credentials, retries, time, metrics, errors of the port. */
export interface Caller {
  /**
   * The body of a success. One longer than `maxBytes` is not read on. Rejects with an ApiError, KubeUnreachableError or
   * AbortedError.
   */
  call(request: ApiRequest, options: KubeCallOptions, maxBytes: number): Promise<Buffer>;
  /** The call's time bounds the wait for the beginning of the answer, and `endAfterMs` the whole answer. */
  stream(request: ApiRequest, options: KubeCallOptions & { endAfterMs: number }): Promise<OpenStream>;
}
