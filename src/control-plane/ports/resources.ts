import type { KubeObject } from "../../api/object.ts";

/**
 * The name of an object. Resources are named by group and plural: `pods`, `deployments.apps`. Cluster-scoped objects
 * have namespace "".
 */
export interface ObjectName {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Reads for the control plane's own parts: the newest state, durable or not yet. Never blocks. */
export interface ResourceReader {
  get(name: ObjectName): KubeObject | undefined;
  /** Lists objects in order of namespace and name; only those of one namespace when it is given. */
  list(resource: string, namespace?: string): readonly KubeObject[];
}

/** The options of a deletion; see `metav1.DeleteOptions`. */
export interface RemoveOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  preconditions?: { uid?: string; resourceVersion?: string };
  /** Which part of the control plane deletes, and why: `the garbage collector, because its owner Job/a is gone`. */
  cause?: string;
}

/**
 * Writes for the control plane's own parts, through the same admission and validation as users' requests. All methods
 * reject with an ApiError (`api/api-error.ts`): AlreadyExists, Conflict, NotFound, Invalid, Forbidden, …
 */
export interface ResourceWriter {
  create(resource: string, object: KubeObject): Promise<KubeObject>;
  /** Rejects with Conflict when `metadata.resourceVersion` is given and is not the current one. */
  update(resource: string, object: KubeObject, subresource?: string): Promise<KubeObject>;
  remove(name: ObjectName, options?: RemoveOptions): Promise<void>;
}

/** A change of an object; `previous` is undefined for a new one. */
export interface ResourceEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** Tells every durable change, in order. */
export interface ResourceFeed {
  /** Calls the listener with ADDED for all existing objects, then with each change. Returns how to stop. */
  follow(resource: string, listener: (event: ResourceEvent) => void): () => void;
  /** Does the same for every resource, also for those that are defined later. */
  followAll(listener: (resource: string, event: ResourceEvent) => void): () => void;
}

/** Server-side apply for the control plane's own parts, in the name of an administrator. */
export interface ResourceApplier {
  /** Where objects of the kind are stored; undefined while the kind is not served. */
  resolve(apiVersion: string, kind: string): { readonly resource: string; readonly namespaced: boolean } | undefined;
  /**
   * Creates the object or changes it, taking fields over from other managers. The object's kind is served. Rejects with
   * an ApiError.
   */
  apply(object: KubeObject): Promise<KubeObject>;
}
