import { ATOMIC_TYPES, DEFINITION_NAMES, MERGE_RULES, SERVED_SCHEMA } from "../../api/gen/served-schema.ts";
import type { MergeRule } from "../../api/merge-rule.ts";
import type { JsonObject } from "./api-table.ts";
import { describeField, describeType } from "./descriptions.ts";
import { type Dialect, describedRef } from "./openapi-dialect.ts";

interface ScalarSchema {
  readonly v2: JsonObject;
  readonly v3: JsonObject;
}

/** The definitions of types that upstream has and the tables write as scalars, with both dialects' schemas. */
const SCALAR_DEFINITIONS: ReadonlyMap<string, ScalarSchema> = new Map<string, ScalarSchema>([
  [
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    sameOr("string", { oneOf: [{ type: "string" }, { type: "number" }] }),
  ],
  [
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    {
      v2: { type: "string", format: "int-or-string" },
      v3: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
    },
  ],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.Time", withFormat("date-time")],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", withFormat("date-time")],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", sameOr("object")],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.Patch", sameOr("object")],
]);

function sameOr(type: string, v3: JsonObject = { type }): ScalarSchema {
  return { v2: { type }, v3 };
}

function withFormat(format: string): ScalarSchema {
  const schema = { type: "string", format };
  return { v2: schema, v3: schema };
}

const SCALAR_TYPES: Readonly<Record<string, JsonObject>> = {
  string: { type: "string" },
  boolean: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  double: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
};

const NAMED_SCALARS: Readonly<Record<string, string>> = {
  Quantity: "io.k8s.apimachinery.pkg.api.resource.Quantity",
  IntOrString: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
  Time: "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
  MicroTime: "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
};

const TYPE_OF_DEFINITION: ReadonlyMap<string, string> = new Map(
  Object.keys(SERVED_SCHEMA).map((type) => [DEFINITION_NAMES[type] ?? type, type]),
);

/** The schema of a built-in definition; undefined when it is none. */
export function servedDefinition(dialect: Dialect, definition: string): JsonObject | undefined {
  const scalar = SCALAR_DEFINITIONS.get(definition);
  if (scalar) return scalar[dialect.version];
  const type = TYPE_OF_DEFINITION.get(definition);
  return type === undefined ? undefined : structSchema(dialect, type);
}

/** True for a definition that is built in. */
export function isServedDefinition(definition: string): boolean {
  return SCALAR_DEFINITIONS.has(definition) || TYPE_OF_DEFINITION.has(definition);
}

function structSchema(dialect: Dialect, type: string): JsonObject {
  const fields = Object.entries(SERVED_SCHEMA[type] ?? {});
  const required = fields.flatMap(([name, declared]) => (declared.endsWith("!") ? [name] : []));
  const description = describeType(type);
  const properties = fields.map(([name, declared]) => [name, fieldSchema(dialect, type, name, declared)]);
  return {
    ...(description !== undefined && { description }),
    type: "object",
    ...(required.length > 0 && { required }),
    ...(fields.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(ATOMIC_TYPES.has(type) && { "x-kubernetes-map-type": "atomic" }),
  };
}

function fieldSchema(dialect: Dialect, type: string, name: string, declared: string): JsonObject {
  const schema = schemaOf(dialect, declared.replace(/!$/, ""), {
    owner: type,
    description: describeField(type, name),
  });
  return { ...schema, ...mergeExtensions(MERGE_RULES[type]?.[name] ?? {}) };
}

interface FieldContext {
  /** The type that has the field. */
  readonly owner: string;
  readonly description?: string | undefined;
}

function schemaOf(dialect: Dialect, type: string, { owner, description }: FieldContext): JsonObject {
  const described = description === undefined ? {} : { description };
  if (type.startsWith("[]")) {
    return { ...described, type: "array", items: schemaOf(dialect, type.slice(2), { owner }) };
  }
  if (type.startsWith("{}")) {
    return { ...described, type: "object", additionalProperties: schemaOf(dialect, type.slice(2), { owner }) };
  }
  if (type === "raw") return { ...rawSchema(owner), ...described };
  const scalar = SCALAR_TYPES[type];
  if (scalar) return { ...described, ...scalar };
  return describedRef(dialect, NAMED_SCALARS[type] ?? DEFINITION_NAMES[type] ?? type, description);
}

/**
 * A CRD's schema has fields that are any JSON (`default`, `items`); elsewhere a field without a type is an object. Never
 * an empty schema: `kubectl explain --recursive` stumbles over it.
 */
function rawSchema(owner: string): JsonObject {
  return owner === "JSONSchemaProps" ? { description: "Any JSON value." } : { type: "object" };
}

function mergeExtensions({ list, keys, map, patch, mergeKey }: MergeRule): JsonObject {
  return {
    ...(keys !== undefined && { "x-kubernetes-list-map-keys": keys }),
    ...(list !== undefined && { "x-kubernetes-list-type": list }),
    ...(map !== undefined && { "x-kubernetes-map-type": map }),
    ...(mergeKey !== undefined && { "x-kubernetes-patch-merge-key": mergeKey }),
    ...(patch !== undefined && { "x-kubernetes-patch-strategy": patch }),
  };
}
