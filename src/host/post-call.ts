/**
 * Posts a text over HTTPS, and resolves with the whole answer. A connection may be one that an earlier call to the same
 * server has left, and is kept for the next; there are a few dozen to one server at most, and further calls wait.
 * Redirects are answers. Rejects with `AbortedError` when the signal fires, and with a CodedError: `call-failed` when
 * the server cannot be reached, is not believed, or its answer is no HTTP, in the words that Go's programs have for it;
 * `too-large` when the answer is longer than `maxBytes`.
 */
export type PostCall = (post: Post, signal: AbortSignal) => Promise<PostAnswer>;

/** What is posted, and where. */
export interface Post {
  /** The address that is called. The caller has found it, and names are not looked up again. */
  readonly address: string;
  readonly port: number;
  /** The name or address, without brackets, that the server's certificate must be for. */
  readonly serverName: string;
  /** The path with its query. */
  readonly target: string;
  /** Headers by lower-case names, `host` among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The authorities that are believed, in PEM. Default: those of the machine. */
  readonly ca?: string | undefined;
  /** A longer answer is not read to its end. */
  readonly maxBytes: number;
}

/** The answer to a post. */
export interface PostAnswer {
  readonly status: number;
  readonly text: string;
}
