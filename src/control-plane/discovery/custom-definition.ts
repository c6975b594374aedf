import { isRecord } from "../../api/object.ts";
import type { JsonObject } from "./api-table.ts";
import { describeField } from "./descriptions.ts";
import { type Dialect, describedRef } from "./openapi-dialect.ts";

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
const PRESERVES = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED = "x-kubernetes-embedded-resource";
const INT_OR_STRING = "x-kubernetes-int-or-string";

/**
 * A custom kind's schema in the form for clients: that of the CRD, with apiVersion, kind and metadata added.
 *
 * Swagger 2.0 can express less, and kubectl takes it literally (a field without a property is an error). That version
 * therefore has no rules for values, and no schema below a part that may have unknown fields, as from
 * `ToStructuralOpenAPIV2` in apiextensions-apiserver.
 */
export function customDefinition(dialect: Dialect, schema: JsonObject | undefined): JsonObject {
  if (schema === undefined) return { type: "object" };
  const isOpen = dialect.version === "v2" && schema[PRESERVES] === true;
  if (isOpen) return { ...describedBy(schema), type: "object" };
  const { properties, ...rest } = publish(dialect, schema);
  return { ...rest, type: "object", properties: { ...typeMeta(dialect), ...withoutTypeMeta(properties) } };
}

/** The definition of a list of the kind whose definition is given. */
export function customListDefinition(dialect: Dialect, definition: string): JsonObject {
  return {
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: { description: describeField("", "apiVersion"), type: "string" },
      items: { description: "The objects of the list.", type: "array", items: dialect.ref(definition) },
      kind: { description: describeField("", "kind"), type: "string" },
      metadata: describedRef(dialect, LIST_META, describeField("", "metadata")),
    },
  };
}

function typeMeta(dialect: Dialect): JsonObject {
  return {
    apiVersion: { description: describeField("", "apiVersion"), type: "string" },
    kind: { description: describeField("", "kind"), type: "string" },
    metadata: describedRef(dialect, OBJECT_META, describeField("", "metadata")),
  };
}

function withoutTypeMeta(properties: unknown): JsonObject {
  if (!isRecord(properties)) return {};
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = properties;
  return rest;
}

const describedBy = ({ description }: JsonObject) => (typeof description === "string" ? { description } : {});

/** The schema in the dialect's words, with everything below it. */
function publish(dialect: Dialect, schema: JsonObject): JsonObject {
  const kept = dialect.version === "v2" ? reduceToV2(schema) : schema;
  const { properties, items, additionalProperties, ...rest } = kept;
  const isEmbedded = schema[EMBEDDED] === true && !(dialect.version === "v2" && schema[PRESERVES] === true);
  const fields = isRecord(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, publishNested(dialect, field)]))
    : undefined;
  return {
    ...rest,
    ...(isEmbedded && { required: embeddedRequired(schema["required"]) }),
    ...((fields || isEmbedded) && {
      properties: { ...(isEmbedded && typeMeta(dialect)), ...(isEmbedded ? withoutTypeMeta(fields) : fields) },
    }),
    ...(items !== undefined && { items: publishNested(dialect, items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: publishNested(dialect, additionalProperties),
    }),
  };
}

const publishNested = (dialect: Dialect, value: unknown) => (isRecord(value) ? publish(dialect, value) : value);

function embeddedRequired(required: unknown): unknown[] {
  return [...new Set([...(Array.isArray(required) ? required : []), "apiVersion", "kind"])];
}

/** The keywords that Swagger 2.0 has and kubectl understands. */
function reduceToV2(schema: JsonObject): JsonObject {
  const { properties, items, additionalProperties, allOf, anyOf, oneOf, not, nullable, type, ...rest } = schema;
  const { default: _default, example: _example, ...said } = rest;
  const isOpen = schema[PRESERVES] === true || nullable === true;
  const isMap = isRecord(additionalProperties);
  return {
    ...said,
    ...(nullable !== true && schema[INT_OR_STRING] !== true && type !== undefined && { type }),
    ...(!isOpen && properties !== undefined && { properties }),
    ...(!isOpen && items !== undefined && { items }),
    ...(!isOpen && isMap && { additionalProperties }),
  };
}
