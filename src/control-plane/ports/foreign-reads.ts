import type { APIResource } from "../../api/gen/types.ts";
import type { User } from "./user.ts";

/** What is asked of another API server, and in whose name. */
export interface ForeignQuestion {
  /** Default: GET. */
  readonly method?: "GET" | "DELETE" | "PATCH";
  /** JSON: the options of a deletion, or a merge patch. Default: none. */
  readonly body?: object;
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

/** Asks an API server of others. Rejects with `AbortedError` only. */
export type ReadForeign = (question: ForeignQuestion, signal: AbortSignal) => Promise<ForeignAnswer>;

/** What an API server of others says that it serves. */
export interface ForeignResources {
  readonly group: string;
  readonly version: string;
  /** Undefined while it does not answer. */
  readonly resources: readonly APIResource[] | undefined;
}
