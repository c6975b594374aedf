import type { KubeResource } from "../api/kube-resource.ts";
import type { ListOptions } from "./port.ts";

/** A copy of a part of the API, kept up to date while it runs: a list, then watches that go on where the last ended. */
export interface Reflector<T> {
  /** Runs until the signal fires, and goes on trying through all failures of the API. */
  run(signal: AbortSignal): Promise<void>;
  /** True once the first list is in. */
  readonly hasSynced: boolean;
  /** Resolves when the first list is in. */
  synced(signal: AbortSignal): Promise<void>;
  /** In no particular order; empty before the first list. */
  list(): T[];
  get(namespace: string, name: string): T | undefined;
}

/** The part of the API that a reflector copies, and its listeners. */
export interface ReflectorOptions<T> extends Pick<ListOptions, "namespace" | "fieldSelector" | "labelSelector"> {
  readonly resource: KubeResource<T>;
  /** Called after each change of the copy; a new list is one change with all that differs. Must not throw. */
  onChange?(changes: ReadonlyArray<ReflectorChange<T>>): void;
  /** Called after each attempt that failed, before the next is waited for. Must not throw. */
  onFailure?(error: unknown): void;
}

export type ReflectorChange<T> =
  | { readonly type: "ADDED"; readonly object: T; readonly previous: undefined }
  | { readonly type: "MODIFIED"; readonly object: T; readonly previous: T }
  | { readonly type: "DELETED"; readonly object: T; readonly previous: T };
