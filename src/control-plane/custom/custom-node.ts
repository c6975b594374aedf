import type { SchemaNode, StructNode } from "../../api/schema-node.ts";
import { servedNode } from "../../api/schema-node.ts";
import {
  additionalOf,
  isEmbeddedResource,
  isIntOrString,
  itemsOf,
  preservesUnknown,
  propertyOf,
  type Schema,
} from "./schema-props.ts";

const SCALAR: SchemaNode = { kind: "scalar" };
const UNTYPED: SchemaNode = { kind: "untyped" };
const NO_PATCH = { patch: [], mergeKey: undefined } as const;
const META_NODE = servedNode("ObjectMeta");
const SCALAR_TYPES = new Set(["boolean", "integer", "number", "string"]);

/** A custom kind as server-side apply walks it: lists are atomic unless the schema says by what their items differ. */
export function customNode(schema: Schema): SchemaNode {
  return structNode(schema, true);
}

function nodeOf(schema: Schema): SchemaNode {
  if (isIntOrString(schema)) return SCALAR;
  const type = schema.type ?? "";
  if (SCALAR_TYPES.has(type)) return SCALAR;
  if (type === "array") return listNode(schema);
  if (type !== "object") return UNTYPED;
  if (schema.properties || isEmbeddedResource(schema)) return structNode(schema, isEmbeddedResource(schema));
  const additional = additionalOf(schema);
  const values = typeof additional === "object" ? nodeOf(additional) : UNTYPED;
  return { kind: "map", atomic: isAtomic(schema), values };
}

const isAtomic = (schema: Schema) => schema["x-kubernetes-map-type"] === "atomic";

function listNode(schema: Schema): SchemaNode {
  const items = itemsOf(schema);
  const type = schema["x-kubernetes-list-type"];
  return {
    kind: "list",
    list: type === "map" || type === "set" ? type : "atomic",
    keys: schema["x-kubernetes-list-map-keys"] ?? [],
    items: items ? nodeOf(items) : UNTYPED,
    ...NO_PATCH,
  };
}

function structNode(schema: Schema, isObject: boolean): StructNode {
  const known = new Map<string, SchemaNode>();
  if (isObject) known.set("apiVersion", SCALAR).set("kind", SCALAR).set("metadata", META_NODE);
  return {
    kind: "struct",
    atomic: isAtomic(schema),
    patch: NO_PATCH.patch,
    field(name) {
      const field = propertyOf(schema, name);
      if (!known.has(name) && field) known.set(name, nodeOf(field));
      return known.get(name) ?? (preservesUnknown(schema) ? UNTYPED : undefined);
    },
  };
}
