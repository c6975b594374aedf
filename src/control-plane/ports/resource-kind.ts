import type { Decoded } from "../../api/decode.ts";
import type { FieldError } from "../../api/field-error.ts";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import type { SchemaNode } from "../../api/schema-node.ts";
import type { ObjectName, ResourceReader } from "./resources.ts";

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** The description of a kind: everything that the API server must know to serve it. */
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
  /** All columns of the kind's table, the name and the age included. */
  readonly columns: readonly Column[];
  /** Tables of lists have the objects with lower numbers first. Default: all are in the order of their names. */
  readonly rowRank?: (object: KubeObject) => number;
  /** Set for a kind that is a view of another version's or group's objects. */
  readonly storedAs?: StoredAs;
  /** True for a built-in kind whose objects have other fields in another version or group. */
  readonly versionsDiffer?: boolean;
}

/** Says that the objects are stored under another kind's keys, in its form. */
export interface StoredAs {
  readonly group: string;
  readonly plural: string;
  toStored(object: KubeObject): KubeObject;
  fromStored(object: KubeObject): KubeObject;
  /** Set where a webhook converts: then both functions throw `UnansweredError` until it has answered. */
  readonly conversion?: Conversion;
}

/** Objects that lie in several versions, between which somebody else converts. */
interface Conversion {
  /** The `apiVersion` in which objects are stored from now on. */
  readonly storage: string;
  /** The kind, of objects that are in its form already. */
  readonly shown: ResourceKind;
  /** The objects in the form of the kind, in their order. Rejects with an ApiError when one cannot be converted. */
  showAll(stored: readonly KubeObject[]): Promise<readonly KubeObject[]>;
}

/**
 * True for a kind that shows the objects of another row. The row in whose version objects are stored is none, even where
 * some of its objects lie in a former version.
 */
export function isView(kind: Pick<ResourceKind, "group" | "version" | "storedAs">): boolean {
  const { storedAs } = kind;
  return storedAs !== undefined && storedAs.conversion?.storage !== apiVersionOf(kind);
}

/** The shape of a kind's objects. */
export interface ObjectSchema {
  /** Types and prunes the value. Unknown fields are dropped and reported as warnings. */
  decode(value: unknown): Decoded<unknown>;
  /** The schema for patches and server-side apply. */
  readonly node: SchemaNode;
  /** True when strategic merge patches are supported: for built-in kinds, not for custom ones. */
  readonly strategicMerge: boolean;
  /** The definition's name in OpenAPI documents, `io.k8s.api.core.v1.Pod`. */
  readonly definition: string;
}

/**
 * The special behaviour of a kind. Every hook but `allocate` and `accompany` is pure, and everything is optional: an object of a kind
 * without any is stored as it comes, after a check of its metadata.
 */
export interface Strategy {
  /** Sets the fields that the author left out. It runs on every incoming object, patched ones included. */
  default?(object: KubeObject): KubeObject;
  /** Removes the fields that a client may not set on creation (a status), and adds those that the server sets. */
  prepareCreate?(object: KubeObject): KubeObject;
  /** Keeps the fields that a client may not change. A status that is a subresource is kept by the registry. */
  prepareUpdate?(next: KubeObject, current: KubeObject): KubeObject;
  /**
   * Validates a defaulted object. The registry checks the metadata (name, labels, owner references, …). `current` is the
   * object that it replaces, whose unchanged parts may be right although a new object with them would not be.
   */
  validate?(object: KubeObject, current?: KubeObject): FieldError[];
  /** Checks what is refused of new objects alone. The object is right by `validate`. */
  validateCreate?(object: KubeObject): FieldError[];
  /** Checks in addition to `validate` that fields which may not change have not changed. */
  validateUpdate?(next: KubeObject, current: KubeObject): FieldError[];
  /**
   * Evaluates the rules that a definition states of its objects, after everything else was found right; `current` is
   * undefined on creation. Warnings are problems that the update did not cause.
   */
  judge?(next: KubeObject, current: KubeObject | undefined): { errors: FieldError[]; warnings: string[] };
  /** A text for the Warning header of every answer. */
  readonly deprecation?: string;
  /** Texts for the Warning header, about a new object or about what an update brings. */
  warnings?(object: KubeObject, current?: KubeObject): string[];
  /** Returns why a name does not fit. Default: the name must be a DNS subdomain. */
  checkName?(name: string): string[];
  /** Selectable fields besides metadata.name and metadata.namespace. */
  readonly fields?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** `metadata.generation` counts the changes of everything but metadata and status; `annotations` too where it says so. */
  readonly generation?: boolean | "with annotations";
  /** A PUT of an object that does not exist creates it. */
  readonly createsOnUpdate?: boolean;
  /** An update must carry the resourceVersion that it was made from. Default false: last write wins. */
  readonly needsResourceVersion?: boolean;
  /**
   * The grace period of a deletion in seconds. The object stays, marked as deleted, until its agent removes it with a
   * grace period of 0. Undefined for a kind that is removed at once.
   */
  readonly gracePeriodSeconds?: (object: KubeObject, requested: number | undefined) => number;
  /**
   * Gives the object the values that the cluster allocates (a service's addresses and ports). It runs on every object
   * that is about to be stored, between validation and the admission plugins that judge; `current` is undefined on
   * creation. Allocated values follow from the stored objects alone, so that a failed write or a dry run takes none.
   * Throws an ApiError when the range is used up or a requested value is taken.
   */
  allocate?(next: KubeObject, current: KubeObject | undefined, reader: ResourceReader): KubeObject;
  /**
   * Names what is stored and removed together with the object, in one write of the store: all of it is there, or none. It
   * is asked in the turn in which the object is written; `next` is undefined when the object is removed.
   */
  accompany?(
    next: KubeObject | undefined,
    current: KubeObject | undefined,
    reader: ResourceReader,
  ): readonly Companion[];
  /**
   * A deletion that does not say what becomes of the dependents leaves them alone, as it did before there was a garbage
   * collector. Default false: they are deleted.
   */
  readonly orphansByDefault?: boolean;
  /** Makes the other changes of an object that is marked as deleted (a namespace's phase). */
  markDeleted?(object: KubeObject): KubeObject;
  /** True when something besides metadata.finalizers keeps a deleted object: the finalizers in a namespace's spec. */
  isHeld?(object: KubeObject): boolean;
  /** Answers a deletion with the deleted object. Default: with a Status. */
  readonly returnsDeleted?: boolean;
}

/** Another object that comes or goes with an object of a kind: one that does not exist yet, or one that does. */
export type Companion =
  | { readonly type: "create"; readonly resource: string; readonly object: KubeObject }
  | ({ readonly type: "remove" } & ObjectName);

export interface Subresource {
  /** `status`, `scale`, `binding`, `log`. */
  readonly name: string;
  /**
   * The kind of the objects that are sent and returned: the parent's, or `Scale`, `Binding`, `Eviction`,
   * `TokenRequest`.
   */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  /**
   * For an update or patch of a part of the parent: takes that part of `next` over into `current`. Undefined for a
   * subresource with a handler of its own (scale, binding, eviction, token, log, …).
   */
  readonly take?: (next: KubeObject, current: KubeObject) => KubeObject;
  /** Its changes of the parent do not count as a new generation. */
  readonly keepsGeneration?: true;
  /** The paths of `scale`. Default: spec.replicas, status.replicas, spec.selector. */
  readonly scale?: ScalePaths;
  /** Replaces the strategy's `validate` and `validateUpdate`. */
  readonly validateUpdate?: (next: KubeObject, current: KubeObject) => FieldError[];
}

/** The paths, from the top of the object, of the values that `autoscaling/v1` Scale shows. */
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
  readonly format?: "duration" | "name" | "quantity";
  readonly description: string;
  /** Columns of priority 0 are always shown, those of priority 1 with `-o wide`. */
  readonly priority: number;
  /**
   * Returns the cell, or a function that computes it from the time. All other cells of a row stay the same until the
   * object changes.
   */
  cell(object: KubeObject): Cell | CellAt;
}

/** The value of a cell. */
export type Cell = string | number | boolean | null;

/**
 * Computes a cell that shows an age; `now` in milliseconds since the epoch. It keeps nothing of the object but its
 * times.
 */
export type CellAt = (now: number) => Cell;

/** The column's cell for the object at that time. */
export function cellOf(column: Pick<Column, "cell">, object: KubeObject, now: number): Cell {
  const cell = column.cell(object);
  return typeof cell === "function" ? cell(now) : cell;
}

/** The name of a resource without its version: `pods`, `deployments.apps`. */
export function groupResource({ group, plural }: Pick<ResourceKind, "group" | "plural">): string {
  return group === "" ? plural : `${plural}.${group}`;
}
