import type { Decoded } from "../../api/decode.ts";
import type { FieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { SchemaNode } from "../../api/schema-node.ts";
import type { ResourceReader } from "./resources.ts";

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** One row of the table that the API server is made of: what it must know to serve a kind. */
export interface ResourceKind {
  /** `""` for core. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** `PodList`. */
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly schema: ObjectSchema;
  readonly strategy: Strategy;
  readonly subresources: readonly Subresource[];
  /** After the name and before the age come from here too: the row has all of its columns. */
  readonly columns: readonly Column[];
  /** Set for a kind that is another version's or group's view of the same objects. */
  readonly storedAs?: StoredAs;
}

/** The objects lie under another kind's keys, in its form. */
export interface StoredAs {
  readonly group: string;
  readonly plural: string;
  toStored(object: KubeObject): KubeObject;
  fromStored(object: KubeObject): KubeObject;
}

/** What a kind's objects look like. */
export interface ObjectSchema {
  /** Typed and pruned; unknown fields are dropped and are among the warnings. */
  decode(value: unknown): Decoded<unknown>;
  /** For patches and server-side apply. */
  readonly node: SchemaNode;
  /** Strategic merge patches are understood: true for built-in kinds, false for custom ones. */
  readonly strategicMerge: boolean;
  /** The definition's name in OpenAPI documents, `io.k8s.api.core.v1.Pod`. */
  readonly definition: string;
}

/**
 * What makes a kind special. Every hook is pure, and everything is optional: a kind without any is stored as it comes,
 * with its metadata checked.
 */
export interface Strategy {
  /** Sets the fields that the author left out. Runs on every object that comes in, patched ones included. */
  default?(object: KubeObject): KubeObject;
  /** Takes away what a client may not set on creation (a status), adds what the server sets. */
  prepareCreate?(object: KubeObject): KubeObject;
  /** Keeps what a client may not change. With the `status` subresource the registry keeps the status by itself. */
  prepareUpdate?(next: KubeObject, current: KubeObject): KubeObject;
  /** Of a defaulted object. Metadata (name, labels, owner references, …) is checked by the registry. */
  validate?(object: KubeObject): FieldError[];
  /** In addition to `validate`: what may not change. */
  validateUpdate?(next: KubeObject, current: KubeObject): FieldError[];
  /** Said in the Warning header of every answer, whatever was asked. */
  readonly deprecation?: string;
  /** For the Warning header. */
  warnings?(object: KubeObject): string[];
  /** Why a name does not fit; default: a DNS subdomain. */
  checkName?(name: string): string[];
  /** Selectable fields besides metadata.name and metadata.namespace. */
  readonly fields?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** `metadata.generation` counts the changes of everything but metadata and status. */
  readonly generation?: boolean;
  /** PUT of an object that does not exist creates it. */
  readonly createsOnUpdate?: boolean;
  /** An update must carry the resourceVersion that it was made from. Default false: last write wins. */
  readonly needsResourceVersion?: boolean;
  /**
   * Graceful deletion: how many seconds the object stays, marked as deleted, until whoever runs it removes it with a
   * grace period of 0. Undefined for a kind that goes at once.
   */
  readonly gracePeriodSeconds?: (object: KubeObject, requested: number | undefined) => number;
  /**
   * Gives the object what the cluster hands out to it (a service's addresses and ports). Runs on every object that is
   * about to be stored, after validation and before the last word of admission; `current` is undefined on creation. What
   * is handed out already follows from the stored objects alone: a write that fails or is dry takes nothing. Throws an
   * ApiError when nothing is left or what was asked for is taken.
   */
  allocate?(next: KubeObject, current: KubeObject | undefined, reader: Pick<ResourceReader, "list">): KubeObject;
  /** What else changes when the object is marked as deleted (a namespace's phase). */
  markDeleted?(object: KubeObject): KubeObject;
  /** Something besides metadata.finalizers keeps a deleted object: the finalizers in a namespace's spec. */
  isHeld?(object: KubeObject): boolean;
  /** The answer to a deletion is the object that went; default: a Status. */
  readonly returnsDeleted?: boolean;
  /** A reason why objects of this kind cannot be created here at all (what they ask for is not built). */
  readonly refusal?: string;
}

export interface Subresource {
  /** `status`, `scale`, `binding`, `log`. */
  readonly name: string;
  /** The kind of what is sent and returned: the parent's, or `Scale`, `Binding`, `Eviction`, `TokenRequest`. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  /**
   * An update or patch of the parent in which only a part may change: what of `next` is taken over into `current`.
   * Undefined for one that has a handler of its own (scale, binding, eviction, token, log, …).
   */
  readonly take?: (next: KubeObject, current: KubeObject) => KubeObject;
  /** Of `scale`; default: spec.replicas, status.replicas, spec.selector. */
  readonly scale?: ScalePaths;
  /** In place of the strategy's `validate` and `validateUpdate`. */
  readonly validateUpdate?: (next: KubeObject, current: KubeObject) => FieldError[];
}

/** Where a kind keeps what `autoscaling/v1` Scale shows: field names from the object's top. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** A serialized selector, or a label selector; undefined where there is none. */
  readonly selector: readonly string[] | undefined;
}

/** A column of what `kubectl get` prints. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: "name";
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
  /** What it shows, or how that follows from the time: the rest of a row stays as it is until the object changes. */
  cell(object: KubeObject): Cell | CellAt;
}

/** What a column shows. */
export type Cell = string | number | boolean | null;

/** What a column shows that tells an age; `now` in ms since the epoch. Holds on to nothing of the object but the times. */
export type CellAt = (now: number) => Cell;

/** What the column shows of the object at that time. */
export function cellOf(column: Pick<Column, "cell">, object: KubeObject, now: number): Cell {
  const cell = column.cell(object);
  return typeof cell === "function" ? cell(now) : cell;
}

/** `pods`, `deployments.apps`: how a resource is named where its version does not matter. */
export function groupResource({ group, plural }: Pick<ResourceKind, "group" | "plural">): string {
  return group === "" ? plural : `${plural}.${group}`;
}
