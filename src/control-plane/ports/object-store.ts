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
  /** Strictly rising over the events of a store. */
  readonly revision: number;
  /** The new version; of a deleted object its last state, stamped with the deletion's revision. */
  readonly stored: StoredObject;
  /** What was there before; undefined for ADDED. */
  readonly previous: StoredObject | undefined;
}

interface StoreList {
  readonly items: readonly StoredObject[];
  /** The revision at which the list was exactly so. */
  readonly revision: number;
}

/**
 * All objects of a cluster, in memory, with a durable journal behind: every version has a revision from one counter,
 * `put` and `remove` resolve when the change is on disk, and only then readers and watchers see it.
 *
 * A caller decides on `head…`, which holds what was put and is not yet durable, and puts in the same tick: nobody comes
 * between, so that there are no conflicts to retry. Reads for users take the durable state.
 */
export interface ObjectStore {
  /** The newest durable revision. */
  readonly revision: number;

  get(key: string): StoredObject | undefined;
  /**
   * Everything below the prefix, in order of the key. At an earlier revision when one is given: undefined when that is
   * no longer kept, or was never reached.
   */
  list(prefix: string, atRevision?: number): StoreList | undefined;

  /** Of the newest change that `head…` holds. */
  readonly headRevision: number;
  headOf(key: string): StoredObject | undefined;
  headList(prefix: string): readonly StoredObject[];

  /**
   * Takes the next revision, stamps it as `metadata.resourceVersion`, and resolves once it is durable. Rejects with an
   * ApiError (InternalError, ServiceUnavailable) when it could not be written; then the change did not happen.
   */
  put(key: string, object: KubeObject): Promise<StoredObject>;
  /** As `put`; resolves with the last state, which is `object` when given, else what was stored. */
  remove(key: string, object?: KubeObject): Promise<StoredObject>;

  /**
   * Resolves when the head as it was at the revision is durable, and at once when it is already. Rejects as `put` does
   * when it never will be.
   */
  untilDurable(headRevision: number): Promise<void>;

  /**
   * Calls the listener with every event below the prefix after the revision, those that are kept first and then each as
   * it becomes durable. `expired` when events after the revision were compacted away or the revision is of the future.
   * A listener must not throw and not write.
   */
  watch(prefix: string, afterRevision: number, listener: (event: StoreEvent) => void): (() => void) | "expired";

  /** Waits for what was put, then lets go of the disk. Nothing may be called afterwards. */
  close(): Promise<void>;
}
