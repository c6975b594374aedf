import type { User } from "./user.ts";

/** What is read of another API server, and in whose name. */
export interface ForeignQuestion {
  readonly group: string;
  readonly version: string;
  /** Below the path of the group and version, with its query: `namespaces/a/queue?labelSelector=b`. */
  readonly path: string;
  readonly user: User;
}

export type ForeignAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly text: string }
  /** No such API server is registered and available. */
  | { readonly kind: "unserved" }
  /** It cannot be reached, or did not answer in time, or says too much. */
  | { readonly kind: "failed"; readonly message: string };

/** Reads of an API server of others. Rejects with `AbortedError` only. */
export type ReadForeign = (question: ForeignQuestion, signal: AbortSignal) => Promise<ForeignAnswer>;
