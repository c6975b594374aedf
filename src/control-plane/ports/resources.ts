import type { KubeObject } from "../../api/object.ts";

/** Resources are named by group and plural here: `pods`, `deployments.apps`. Cluster-scoped objects have namespace "". */
export interface ObjectName {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** What the control plane's own parts read: all that was written, durable or not yet. Never blocks. */
export interface ResourceReader {
  get(name: ObjectName): KubeObject | undefined;
  /** In order of namespace and name; of one namespace when it is given. */
  list(resource: string, namespace?: string): readonly KubeObject[];
}

/** Of a deletion; see `metav1.DeleteOptions`. */
export interface RemoveOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  preconditions?: { uid?: string; resourceVersion?: string };
}

/**
 * What the control plane's own parts write, through the same admission and validation as everybody. All reject with an
 * ApiError (`api/api-error.ts`): AlreadyExists, Conflict, NotFound, Invalid, Forbidden, …
 */
export interface ResourceWriter {
  create(resource: string, object: KubeObject): Promise<KubeObject>;
  /** Conflict when `metadata.resourceVersion` is given and is not the current one. */
  update(resource: string, object: KubeObject, subresource?: string): Promise<KubeObject>;
  remove(name: ObjectName, options?: RemoveOptions): Promise<void>;
}

/** A change of an object; `previous` is undefined for a new one. */
export interface ResourceEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** Every durable change, in order. */
export interface ResourceFeed {
  /** First calls the listener with ADDED for all there are, then with each change. Returns how to stop. */
  follow(resource: string, listener: (event: ResourceEvent) => void): () => void;
  /** The same for every resource, those that are defined later included. */
  followAll(listener: (resource: string, event: ResourceEvent) => void): () => void;
}
