import type { ServedAnswer, ServedRequest } from "../../host/http-server.ts";

/**
 * Serves a subresource that is a connection to another server and no object: `log`, `exec`, `proxy`. Throws an ApiError
 * to refuse. The caller is authenticated and authorized for the request's verb.
 */
export type ConnectHandler = (call: ConnectCall) => Promise<ServedAnswer>;

/** A call that is authenticated and authorized. */
export interface ConnectCall {
  readonly request: ServedRequest;
  /** "" for a cluster-scoped object. */
  readonly namespace: string;
  /** The name as in the path; for a proxied object with its scheme and port. */
  readonly name: string;
  /** The part of the path after the subresource, escaped as sent, with its leading slash; "" when there is none. */
  readonly rest: string;
  /** Throws Forbidden unless the caller is also authorized for this verb of the subresource. */
  requireVerb(verb: string): void;
}
