import type { Pod } from "../api/gen/types.ts";

/** The pods of a node, to be read and watched by whoever asks at the node agent's socket. */
export interface NodePods {
  /** All pods with the node's newest status, by UID. */
  list(): readonly Pod[];
  /** Undefined: there is no such pod here. */
  get(uid: string): Pod | undefined;
  /**
   * First all pods, then `synced`, then each change, until the signal fires. Throws CodedError `resource-exhausted` for a
   * watcher that is too slow, or one too many.
   */
  watch(signal: AbortSignal): AsyncIterable<PodChange>;
}

/** What a watcher is told of: of a deleted pod its name, namespace and UID only. */
export type PodChange =
  | { readonly type: "added" | "modified" | "deleted"; readonly pod: Pod }
  | { readonly type: "synced" };
