import type { KubeResource } from "../api/kube-resource.ts";
import { CodedError } from "../base/errors.ts";

/**
 * The Kubernetes API, as the node agent needs it. Failures that a server answered with are an `ApiError`
 * (src/api/api-error.ts) whose `reason` decides; a server that could not be asked is a `KubeUnreachableError`; an abort
 * is an AbortedError. The real adapter and the direct one of the simulator pass one contract suite
 * (`test/contract/kube.test.ts`).
 */
export interface KubeClient {
  get<T>(resource: KubeResource<T>, name: NamespacedName, options?: GetOptions): Promise<T>;
  /** All pages of a list. */
  list<T>(resource: KubeResource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /**
   * Calls `onEvent` for each event, in order and never two at once. Resolves when the server ends the watch in order;
   * rejects with an ApiError `Expired` or `Gone` when the revision is no longer kept, with KubeUnreachableError when the
   * connection broke or fell silent, with what `onEvent` throws.
   */
  watch<T>(resource: KubeResource<T>, options: WatchOptions, onEvent: (event: WatchEvent<T>) => void): Promise<void>;
  create<T>(resource: KubeResource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** PUT of the object, or of a subresource where one is named. */
  replace<T>(resource: KubeResource<T>, object: T, options?: SubresourceOptions): Promise<T>;
  patch<T>(resource: KubeResource<T>, name: NamespacedName, patch: KubePatch, options?: SubresourceOptions): Promise<T>;
  delete<T>(resource: KubeResource<T>, name: NamespacedName, options?: KubeDeleteOptions): Promise<void>;
  /** POST beneath an object, as `serviceaccounts/NAME/token` is asked for. */
  createBeneath<T>(parent: KubeResource<unknown>, name: NamespacedName, child: ChildResource<T>): Promise<T>;
}

/** An object's place. `namespace` is "" for what is cluster-wide. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** Applies to every call. */
export interface KubeCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** The limit of the whole call with its retries. Default: that of the client. A watch has none. */
  readonly timeoutMs?: number | undefined;
}

interface GetOptions extends KubeCallOptions {
  /** `"0"`: whatever the server has in its cache. Default: the newest, from its store. */
  readonly resourceVersion?: string | undefined;
}

export interface ListOptions extends KubeCallOptions {
  /** Default: every namespace. */
  readonly namespace?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** `"0"`: whatever the server has in its cache. Default: the newest, from its store. */
  readonly resourceVersion?: string | undefined;
}

export interface WatchOptions extends Omit<ListOptions, "resourceVersion" | "timeoutMs"> {
  /** The watch begins after this revision. */
  readonly resourceVersion: string;
  /** The server ends the watch after this long. */
  readonly timeoutSeconds: number;
}

interface WriteOptions extends KubeCallOptions {
  /** The manager that is noted in managedFields. Default: the client's user agent. */
  readonly fieldManager?: string | undefined;
}

export interface SubresourceOptions extends WriteOptions {
  /** `status`, `ephemeralcontainers`. */
  readonly subresource?: string | undefined;
}

export interface KubeDeleteOptions extends KubeCallOptions {
  /** Default: the object's own. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Fails with `Conflict` for another object of that name. */
  readonly uid?: string | undefined;
}

/** The object that `createBeneath` posts, and its subresource. */
export interface ChildResource<T> extends KubeCallOptions {
  readonly subresource: string;
  readonly resource: KubeResource<T>;
  readonly body: T;
}

export type KubePatch =
  | { readonly type: "strategic" | "merge"; readonly body: object }
  | { readonly type: "json"; readonly body: readonly object[] };

export interface KubeList<T> {
  readonly items: T[];
  /** To watch from. */
  readonly resourceVersion: string;
}

export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T; readonly resourceVersion: string }
  /** There was no event of this watch up to this revision. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/**
 * The server could not be asked or did not answer. `unreachable`: no connection, or it broke; whether a write was done is
 * not known. `timed-out`: no answer within the call's time. `credentials`: the client has none to show (a file is missing,
 * the plugin failed), and no request was made.
 */
export class KubeUnreachableError extends CodedError<"unreachable" | "timed-out" | "credentials"> {
  override readonly name = "KubeUnreachableError";
}
