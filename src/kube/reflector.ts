import type { KubeResource } from "../api/kube-resource.ts";
import type { ListOptions } from "./port.ts";

/** A copy of a part of the API, kept up to date for as long as it runs: list, then watch, then again from where it was. */
export interface Reflector<T> {
  /** Runs until the signal fires; whatever the API does, it goes on trying. */
  run(signal: AbortSignal): Promise<void>;
  /** The first list is in. */
  readonly hasSynced: boolean;
  /** Resolves when it is. */
  synced(signal: AbortSignal): Promise<void>;
  /** In no particular order; empty before the first list. */
  list(): T[];
  get(namespace: string, name: string): T | undefined;
}

/** What a reflector copies, and who hears of it. */
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
