import type { WebAnswer, WebRequest } from "../../host/web-server.ts";

/**
 * A subresource that is no object but a way to somewhere else: `log`, `exec`, `proxy`. Throws an ApiError for what it
 * refuses. The caller is known and may do what the request's verb says.
 */
export type ConnectHandler = (call: ConnectCall) => Promise<WebAnswer>;

/** Authenticated and allowed. */
export interface ConnectCall {
  readonly request: WebRequest;
  /** "" for what is in no namespace. */
  readonly namespace: string;
  /** As the path has it; of a proxied object with its scheme and port. */
  readonly name: string;
  /** What follows the subresource in the path, escaped as sent, from its slash on; "" where nothing does. */
  readonly rest: string;
  /** Throws Forbidden unless the caller may also do this with the subresource. */
  requireVerb(verb: string): void;
}
