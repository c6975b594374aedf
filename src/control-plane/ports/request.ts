import type { KubeObject } from "../../api/object.ts";
import type { ResourceKind } from "./resource-kind.ts";
import type { User } from "./user.ts";

/** What somebody wants to do, as authorization sees it. */
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
  /** "" cluster-wide or across all namespaces. */
  readonly namespace: string;
  /** "" where no single object is named (list, create). */
  readonly name: string;
  /** Of a list or watch: its field selector, because a node may list only its own pods. */
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
  /** Why, for the message of a 403 and for access reviews. */
  readonly reason: string;
}

/** Never throws and never waits: its rules are in memory. */
export type Authorize = (attributes: AccessAttributes) => AccessDecision;

/** What is about to be written, as admission sees it. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly kind: ResourceKind;
  /** "" for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** "" when the name is still to be generated. */
  readonly name: string;
  readonly user: User;
  /** What was sent (the options' or subresource's object for bindings, evictions, token requests); undefined for DELETE. */
  readonly object: KubeObject | undefined;
  /** What is stored; undefined for CREATE. */
  readonly current: KubeObject | undefined;
  readonly dryRun: boolean;
  /** Adds a Warning header to the answer. */
  warn(message: string): void;
}

/** What somebody wants to create, as it was sent. */
export interface PendingCreation {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly body: unknown;
}

/** A step of admission; see `control-plane/admission`. Throws an ApiError to refuse. */
export interface AdmissionPlugin {
  /** As upstream names it: `NamespaceLifecycle`, `Priority`. */
  readonly name: string;
  /**
   * Waits, for a moment at most, for what others are about to make and `mutate` will ask for. Undefined when there is
   * nothing to wait for. Before the decision, which never waits.
   */
  settle?(creation: PendingCreation): Promise<void> | undefined;
  /** Returns the object to go on with. Runs before validation, in the order of the plugins. */
  mutate?(request: AdmissionRequest): KubeObject | undefined;
  /** Sees the object as it will be stored. */
  validate?(request: AdmissionRequest): void;
}
