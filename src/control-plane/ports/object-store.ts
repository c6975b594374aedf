import type { KubeObject } from "../../api/object.ts";

/** One version of one object. */
export interface StoredObject {
  /** `<group or core>/<plural>/<namespace or nothing>/<name>`: sorts as lists are ordered. */
  readonly key: string;
  /** The revision that made this version; also in `object.metadata.resourceVersion`, as a string. */
  readonly revision: number;
  /** Deeply read-only by convention; parsed when first asked for and given up when memory is short. */
  readonly object: KubeObject;
  /** The same as JSON, encoded once. */
  readonly json: Buffer;
}

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly key: string;
  /** The event's revision, which strictly rises over the events of a store. */
  readonly revision: number;
  /** The new version. For a deleted object it is the last state, stamped with the deletion's revision. */
  readonly stored: StoredObject;
  /** The version before; undefined for ADDED. */
  readonly previous: StoredObject | undefined;
}

/** A change of one object. A removal's object is its last state; default: the stored one. */
export type StoreWrite =
  | { readonly type: "put"; readonly key: string; readonly object: KubeObject }
  | { readonly type: "remove"; readonly key: string; readonly object?: KubeObject };

interface StoreList {
  readonly items: readonly StoredObject[];
  /** The revision of the state that the list shows. */
  readonly revision: number;
}

/**
 * All objects of a cluster, in memory and in a durable journal. Every version has a revision from one counter. `put`
 * and `remove` resolve when the change is on disk, and readers and watchers see it only then.
 *
 * A caller decides on `head…`, which contains changes that are not durable yet, and puts in the same tick. No other
 * change can come between, so that there are no conflicts to retry. Reads for users take the durable state.
 */
export interface ObjectStore {
  /** The newest durable revision. */
  readonly revision: number;

  get(key: string): StoredObject | undefined;
  /**
   * All objects below the prefix, in order of their keys. With a revision, the list at that revision: undefined when it
   * is no longer kept or was never reached.
   */
  list(prefix: string, atRevision?: number): StoreList | undefined;
  /** How many objects are below the prefix. */
  count(prefix: string): number;

  /** The revision of the newest change that `head…` contains. */
  readonly headRevision: number;
  headOf(key: string): StoredObject | undefined;
  headList(prefix: string): readonly StoredObject[];

  /**
   * Takes the next revision, stamps it as `metadata.resourceVersion`, and resolves once the change is durable. Rejects
   * with an ApiError (InternalError, ServiceUnavailable) when it could not be written; the change did not happen then.
   */
  put(key: string, object: KubeObject): Promise<StoredObject>;
  /** Removes as `put` puts. Resolves with the last state: `object` when it is given, else the stored one. */
  remove(key: string, object?: KubeObject): Promise<StoredObject>;
  /**
   * Does several writes of different keys as one: they are durable together, or none of them happened. Each has a
   * revision of its own, in their order. Resolves with their objects, and rejects as `put` does.
   */
  write(writes: readonly StoreWrite[]): Promise<readonly StoredObject[]>;

  /**
   * Resolves when the head at this revision is durable, at once when it is already. Rejects as `put` does when it never
   * will be.
   */
  untilDurable(headRevision: number): Promise<void>;

  /**
   * Calls the listener with every event below the prefix after the revision: first with those that are kept, then with
   * each new one as it becomes durable. Returns `expired` when events after the revision were compacted away or the
   * revision is of the future. A listener must neither throw nor write.
   */
  watch(prefix: string, afterRevision: number, listener: (event: StoreEvent) => void): (() => void) | "expired";

  /** Waits until all changes are durable, then closes the journal. No method may be called afterwards. */
  close(): Promise<void>;
}
