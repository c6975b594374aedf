import { decodeTyped, type OmittedFields } from "../../api/decode.ts";
import { OMITTED_FIELDS } from "../../api/gen/omitted-fields.ts";
import { DEFINITION_NAMES, SERVED_SCHEMA } from "../../api/gen/served-schema.ts";
import type { KubeObject } from "../../api/object.ts";
import { servedNode } from "../../api/schema-node.ts";
import type { ObjectSchema, ResourceKind, StoredAs, Strategy, Subresource, Verb } from "../ports/resource-kind.ts";
import { groupResource } from "../ports/resource-kind.ts";
import { COLUMNS, DEFAULT_COLUMNS } from "./columns/columns.ts";

/** The row of a built-in kind, without its defaults. */
export interface KindRow {
  /** Default: core. */
  group?: string;
  /** Default `v1`. */
  version?: string;
  kind: string;
  plural: string;
  shortNames?: readonly string[];
  /** `all` for what `kubectl get all` shows. */
  categories?: readonly string[];
  /** Default true. */
  namespaced?: boolean;
  /** Its name in `SERVED_SCHEMA`; default: the kind. */
  type?: string;
  /** Default: all of them. */
  verbs?: readonly Verb[];
  strategy?: Strategy;
  /** Has a `status` subresource. Default false. */
  status?: boolean;
  /** The problems of a status, where it is a subresource. */
  validateStatus?: NonNullable<Subresource["validateUpdate"]>;
  /** Besides `status`. */
  subresources?: readonly Subresource[];
  storedAs?: StoredAs;
  /** True where its objects have other fields in another version or group. Default false. */
  versionsDiffer?: boolean;
  /** Tables have the objects with lower numbers first. Default: they are in the order of their names. */
  rowRank?: (object: KubeObject) => number;
  /** The number of values that an object of this kind may have at most. Default 30,000. */
  maxValues?: number;
}

/**
 * The greatest objects that are of use have about half of this: a slice of a thousand endpoints, a config map of ten
 * thousand keys with their owner. All work on an object is one step that nobody else can interrupt.
 */
const MAX_VALUES = 30_000;
/** The bound for pods and what has a template for them: more is done for each value, and no node runs such a pod. */
export const MAX_POD_VALUES = 10_000;

export const ALL_VERBS: readonly Verb[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/** The kind of the row, with all defaults. */
export function defineKind(row: KindRow): ResourceKind {
  const { group = "", version = "v1", kind, plural, namespaced = true, strategy = {} } = row;
  const status: Subresource = {
    name: "status",
    group,
    version,
    kind,
    verbs: ["get", "patch", "update"],
    ...(row.validateStatus && { validateUpdate: row.validateStatus }),
  };
  const subresources = [...(row.status ? [status] : []), ...(row.subresources ?? [])];
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    namespaced,
    verbs: row.verbs ?? ALL_VERBS,
    schema: servedObjectSchema(row.type ?? kind, row.maxValues ?? MAX_VALUES),
    strategy,
    subresources,
    columns: COLUMNS[groupResource({ group, plural })] ?? DEFAULT_COLUMNS,
    ...(row.storedAs && { storedAs: row.storedAs }),
    ...(row.versionsDiffer && { versionsDiffer: true }),
    ...(row.rowRank && { rowRank: row.rowRank }),
  };
}

const OMITTED: OmittedFields = Object.fromEntries(
  Object.entries(OMITTED_FIELDS).map(([type, fields]) => [type, new Set(fields.split(" "))]),
);

/** The schema of a type that is generated from upstream's. */
function servedObjectSchema(type: string, maxValues: number): ObjectSchema {
  return {
    decode: (value) => decodeTyped({ tables: SERVED_SCHEMA, type, omitted: OMITTED, maxValues }, value),
    node: servedNode(type),
    strategicMerge: true,
    definition: DEFINITION_NAMES[type] ?? type,
  };
}
