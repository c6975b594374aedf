import type { KubeObject } from "../../api/object.ts";
import type { ResourceKind } from "./resource-kind.ts";
import type { User } from "./user.ts";

/** The action of a user, as authorization sees it. */
export type AccessAttributes = ResourceAccess | PathAccess;

export interface ResourceAccess {
  readonly user: User;
  /** create, get, list, watch, update, patch, delete, deletecollection; also approve, sign, impersonate, bind, escalate, use. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** "" for cluster-scoped resources and across all namespaces. */
  readonly namespace: string;
  /** "" when no single object is named (list, create). */
  readonly name: string;
  /** The field selector of a list or watch, because a node may list only its own pods. */
  readonly fieldSelector?: string;
}

export interface PathAccess {
  readonly user: User;
  /** get, post, put, delete, … */
  readonly verb: string;
  /** `/healthz`, `/openapi/v3`. */
  readonly path: string;
}

export interface AccessDecision {
  readonly allowed: boolean;
  /** The reason, for the message of a 403 and for access reviews. */
  readonly reason: string;
}

/** Decides about an action. It never throws and never waits, because its rules are in memory. */
export type Authorize = (attributes: AccessAttributes) => AccessDecision;

/** A write that is about to happen, as admission sees it. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly kind: ResourceKind;
  /** "" for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** "" when the name is still to be generated. */
  readonly name: string;
  readonly user: User;
  /**
   * The object that was sent (for bindings, evictions and token requests that of the subresource); undefined for
   * DELETE.
   */
  readonly object: KubeObject | undefined;
  /** The stored object; undefined for CREATE. */
  readonly current: KubeObject | undefined;
  readonly dryRun: boolean;
  /** The options of the request, as `CreateOptions` of `meta.k8s.io/v1`. Default: there are none. */
  readonly options?: object | undefined;
  /** True in the second round of the plugins that change objects; see `wantsReinvocation`. Default false. */
  readonly isReinvocation?: boolean;
  /** Adds a Warning header to the answer. */
  warn(message: string): void;
  /** Adds an annotation to the audit log's record of the request. Default: it has none. */
  readonly annotate?: Annotate | undefined;
}

/** Takes an annotation; the first of a key counts. */
export type Annotate = (key: string, value: string) => void;

/** The creation of an object as it was sent. */
export interface PendingCreation {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly body: unknown;
}

/** Another object that is stored in one step with the object of a request. */
export interface AccompanyingWrite {
  /** `resourcequotas`, `deployments.apps`. */
  readonly resource: string;
  /** The next version of an object that exists. */
  readonly object: KubeObject;
}

/** A step of admission; see `control-plane/admission`. Throws an ApiError to refuse. */
export interface AdmissionPlugin {
  /** Upstream's name of the plugin: `NamespaceLifecycle`, `Priority`. */
  readonly name: string;
  /**
   * Waits, for a moment at most, until the object or the code is there that the plugin will need to decide. Undefined
   * when there is nothing to wait for. It runs before the decision, which never waits.
   */
  settle?(creation: PendingCreation): Promise<void> | undefined;
  /**
   * The plugin for all attempts at one request, for a plugin that remembers what it was answered: its hooks may throw
   * `UnansweredError`. Undefined when it has nothing to say about any request now.
   */
  forRequest?(): AdmissionPlugin | undefined;
  /** True after a first round of `mutate` by which others should see what has changed after them. */
  wantsReinvocation?(): boolean;
  /** Returns the object with the plugin's changes. It runs before validation, in the order of the plugins. */
  mutate?(request: AdmissionRequest): KubeObject | undefined;
  /** Judges the object as it will be stored. */
  validate?(request: AdmissionRequest): void;
  /**
   * Names what changes together with the object. It is asked last, in the same turn in which the object is stored, and
   * not for a dry run: nothing refuses the request any more.
   */
  accompany?(request: AdmissionRequest): readonly AccompanyingWrite[];
}
