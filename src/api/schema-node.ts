import { ATOMIC_TYPES, MERGE_RULES, SERVED_SCHEMA } from "./gen/served-schema.ts";
import type { MergeRule } from "./merge-rule.ts";

/**
 * A value's place in a schema, as patches and server-side apply walk it. `untyped` is whatever the value turns out to
 * be: maps merge by key, lists are atomic.
 */
export type SchemaNode = ScalarNode | StructNode | MapNode | ListNode | UntypedNode;

/** A value without parts. */
interface ScalarNode {
  readonly kind: "scalar";
}

/** An object with fields of its own types. */
export interface StructNode {
  readonly kind: "struct";
  /** One value, owned and replaced as a whole. */
  readonly atomic: boolean;
  /** Undefined for a field that the type does not have. */
  field(name: string): SchemaNode | undefined;
  /** The directives of strategic merge patches, where this value is a field of another: `retainKeys`. */
  readonly patch: readonly string[];
}

/** An object with any keys, all values of one type. */
interface MapNode {
  readonly kind: "map";
  readonly atomic: boolean;
  readonly values: SchemaNode;
}

/** A list, and how it merges. */
export interface ListNode {
  readonly kind: "list";
  /** How the list merges in server-side apply. */
  readonly list: "atomic" | "set" | "map";
  /** The fields that tell the items of a `map` list apart. */
  readonly keys: readonly string[];
  readonly items: SchemaNode;
  /** For strategic merge patches: it has `merge` if the items merge; otherwise the list is replaced. */
  readonly patch: readonly string[];
  /** Undefined for a list of scalars. */
  readonly mergeKey: string | undefined;
}

/** Anything. */
interface UntypedNode {
  readonly kind: "untyped";
}

const SCALAR: ScalarNode = { kind: "scalar" };
const UNTYPED: UntypedNode = { kind: "untyped" };
const SCALARS = new Set([
  "string",
  "boolean",
  "int32",
  "int64",
  "double",
  "bytes",
  "Quantity",
  "IntOrString",
  "Time",
  "MicroTime",
]);

/** The node of a served type by its name in `SERVED_SCHEMA`: `Pod`, `EventsEvent`. */
export function servedNode(type: string): SchemaNode {
  return nodeOf(type, {});
}

function nodeOf(type: string, rule: MergeRule): SchemaNode {
  if (type.startsWith("[]")) return listNode(type.slice(2), rule);
  if (type.startsWith("{}")) return { kind: "map", atomic: rule.map === "atomic", values: nodeOf(type.slice(2), {}) };
  if (SCALARS.has(type)) return SCALAR;
  const fields = SERVED_SCHEMA[type];
  return fields ? structNode(type, fields, rule) : UNTYPED;
}

function structNode(type: string, fields: Readonly<Record<string, string>>, rule: MergeRule): StructNode {
  const known = new Map<string, SchemaNode>();
  return {
    kind: "struct",
    atomic: rule.map === "atomic" || ATOMIC_TYPES.has(type),
    patch: strategiesOf(rule),
    field(name) {
      const declared = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (declared === undefined) return undefined;
      const node = known.get(name) ?? nodeOf(declared.replace(/!$/, ""), MERGE_RULES[type]?.[name] ?? {});
      known.set(name, node);
      return node;
    },
  };
}

function listNode(itemType: string, rule: MergeRule): ListNode {
  return {
    kind: "list",
    list: rule.list === "map" || rule.list === "set" ? rule.list : "atomic",
    keys: rule.keys ?? [],
    items: nodeOf(itemType, {}),
    patch: strategiesOf(rule),
    mergeKey: rule.mergeKey,
  };
}

const strategiesOf = ({ patch }: MergeRule) => (patch === undefined ? [] : patch.split(","));
