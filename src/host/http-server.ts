/**
 * Serving HTTP, as the node agent needs it: small answers, made by a function of the request. Kept apart from `Host`
 * because only the composition of a running node listens; nothing simulated does.
 */
export type HttpHandler = (request: ServedRequest) => Promise<ServedResponse> | ServedResponse;

export interface ServedRequest {
  method: string;
  /** Decoded no further than URL parsing does; begins with `/`. */
  path: string;
  query: URLSearchParams;
}

export interface ServedResponse {
  status: number;
  /** Default `text/plain; charset=utf-8`. */
  contentType?: string;
  body: string;
}

/** Where to listen: a port of an address (0: any free one) or a unix socket, which only its owner may use. */
export type ListenAddress = { address: string; port: number } | { socketPath: string };

export interface HttpServer {
  /** The port that was taken; undefined for a unix socket. */
  port: number | undefined;
  /** Stops listening, ends open connections, and resolves when they are gone. */
  close(): Promise<void>;
}

/** Rejects, naming the address and what to change, when it cannot listen there. */
export type Listen = (address: ListenAddress, handler: HttpHandler) => Promise<HttpServer>;
