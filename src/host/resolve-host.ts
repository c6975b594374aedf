/**
 * Resolves a host to its addresses; an address resolves to itself. Rejects with a CodedError `lookup-failed` in the
 * words of Go's resolver, and with `AbortedError` when the signal fires.
 */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly string[]>;
