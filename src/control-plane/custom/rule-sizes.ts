import type { DeclaredSize } from "../cel/estimate/sizes.ts";
import { ruleProperties } from "./rule-schema.ts";
import { additionalOf, hasDefault, isEmbeddedResource, isIntOrString, itemsOf, type Schema } from "./schema-props.ts";

/** What a schema says of how large its values are, for the estimate of what rules cost. */
interface SchemaSize extends DeclaredSize {
  /** The fewest bytes that a value has as JSON. */
  readonly minBytes: number;
}

/** The largest request that the estimate reckons with, as kube-apiserver does. */
const REQUEST_BYTES = 3 * 1024 * 1024;
/** The most bytes of a character, in UTF-8. */
const CHARACTER_BYTES = 4;
/** A text without a bound, in its quotation marks. */
const LONGEST_TEXT = REQUEST_BYTES - 2;
const EMPTY_TEXT: SchemaSize = { max: 0, minBytes: 2 };

/** Texts of these formats are no longer than so many bytes, and no shorter. */
const FORMATS: Readonly<Record<string, SchemaSize>> = {
  duration: { max: 32, minBytes: 3 },
  date: { max: 12, minBytes: 12 },
  "date-time": { max: 32, minBytes: 21 },
};

/**
 * The declared size of the values of a schema; undefined where expressions do not see them. It reckons as
 * `k8s.io/apiserver/pkg/cel/common/schemas.go` does.
 */
export function schemaSize(schema: Schema, isResource = isEmbeddedResource(schema)): SchemaSize | undefined {
  if (isIntOrString(schema)) return { max: textLength(schema), minBytes: 1 };
  switch (schema.type) {
    case "array":
      return listSize(schema);
    case "object":
      return isMap(schema) ? mapSize(schema) : objectSize(schema, isResource);
    case "string":
      return textSize(schema);
    case "boolean":
      return { max: 0, minBytes: 4 };
    case "number":
    case "integer":
      return { max: 0, minBytes: 1 };
    default:
      return undefined;
  }
}

/** How often a value of at least so many bytes fits into a request. */
export const mostOccurrences = (minBytes: number) => Math.floor(REQUEST_BYTES / (minBytes + 1));

const isMap = (schema: Schema) => typeof additionalOf(schema) === "object";
const bounded = (limit: number) => Math.max(0, limit);

function textLength({ maxLength }: Schema): number {
  return maxLength === undefined ? LONGEST_TEXT : bounded(maxLength) * CHARACTER_BYTES;
}

function textSize(schema: Schema): SchemaSize {
  const { format = "", maxLength, enum: values = [] } = schema;
  if (format === "byte") return { max: maxLength === undefined ? LONGEST_TEXT : bounded(maxLength), minBytes: 2 };
  const known = FORMATS[format];
  if (known !== undefined) return known;
  const isListed = maxLength === undefined && values.length > 0;
  const longest = () =>
    Math.max(0, ...values.map((value) => (typeof value === "string" ? Buffer.byteLength(value) : 0)));
  return { max: isListed ? longest() : textLength(schema), minBytes: 2 };
}

function listSize(schema: Schema): SchemaSize | undefined {
  const items = itemsOf(schema);
  const item = items && schemaSize(items);
  if (item === undefined) return undefined;
  const { maxItems } = schema;
  const max = maxItems === undefined ? Math.floor(LONGEST_TEXT / (item.minBytes + 1)) : bounded(maxItems);
  return { max, items: item, minBytes: 2 };
}

/** The quotation marks of a key, a colon, a comma and two bytes of the key itself. */
const ENTRY_BYTES = 6;

function mapSize(schema: Schema): SchemaSize | undefined {
  const additional = additionalOf(schema);
  const value = typeof additional === "object" ? schemaSize(additional) : undefined;
  if (value === undefined) return undefined;
  const { maxProperties } = schema;
  const max =
    maxProperties === undefined ? Math.floor(LONGEST_TEXT / (value.minBytes + ENTRY_BYTES)) : bounded(maxProperties);
  return { max, keys: EMPTY_TEXT, items: value, minBytes: 2 };
}

/** The quotation marks of a name, a colon and a comma. */
const FIELD_BYTES = 4;

function objectSize(schema: Schema, isResource: boolean): SchemaSize {
  const required = new Set(schema.required ?? []);
  const fields = new Map<string, DeclaredSize>();
  let minBytes = 2;
  for (const [escaped, [name, property]] of ruleProperties(schema, isResource)) {
    const size = schemaSize(property);
    if (size === undefined) continue;
    fields.set(escaped, size);
    if (required.has(name) && !hasDefault(property)) minBytes += Buffer.byteLength(name) + size.minBytes + FIELD_BYTES;
  }
  return { max: 0, fields, minBytes };
}
