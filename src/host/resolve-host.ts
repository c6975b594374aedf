/**
 * The addresses of a host; of an address itself that one. Rejects with a CodedError `lookup-failed` in the words of Go's
 * resolver, and with AbortedError when the signal fires.
 */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly string[]>;
