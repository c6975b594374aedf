import type { JSONSchemaProps } from "../../api/gen/types.ts";
import { isRecord } from "../../api/object.ts";

/** A schema as a CRD writes it. `decodeCrd` has decoded it, also where the generated type leaves it open. */
export type Schema = JSONSchemaProps;

/** True for a schema, in places where the type allows other values, too. */
function isSchema(value: unknown): value is Schema {
  return isRecord(value);
}

/** The schema of a list's items. */
export function itemsOf({ items }: Schema): Schema | undefined {
  return isSchema(items) ? items : undefined;
}

/** The schema of a map's values; a boolean where the CRD only says whether there may be any. */
export function additionalOf({ additionalProperties }: Schema): Schema | boolean | undefined {
  return isSchema(additionalProperties) || typeof additionalProperties === "boolean" ? additionalProperties : undefined;
}

/** The schema of a field of an object: its own, or that of the map's values. */
export function fieldOf(schema: Schema, name: string): Schema | boolean | undefined {
  return propertyOf(schema, name) ?? additionalOf(schema);
}

/** The schema of a named field. */
export function propertyOf({ properties }: Schema, name: string): Schema | undefined {
  return properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** True where fields that the schema does not have stay. */
export const preservesUnknown = (schema: Schema) => schema["x-kubernetes-preserve-unknown-fields"] === true;
/** True where the value is an object of its own, with apiVersion, kind and metadata. */
export const isEmbeddedResource = (schema: Schema) => schema["x-kubernetes-embedded-resource"] === true;
/** True where the value is an integer or a string, and `type` does not count. */
export const isIntOrString = (schema: Schema) => schema["x-kubernetes-int-or-string"] === true;
/** True where there is a default: null says that there is none. */
export const hasDefault = (schema: Schema) => schema.default !== undefined && schema.default !== null;

/** Fields that each object has besides those of its schema. */
export const TYPE_META: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** A schema within another, with its path as upstream writes it. */
interface Subschema {
  readonly path: string;
  readonly schema: Schema;
  /** In a junctor (`anyOf`, `not`, …), where only values may be restricted. */
  readonly nested: boolean;
}

/** The schemas directly below one. */
export function subschemasOf(schema: Schema, path: string): Subschema[] {
  const items = itemsOf(schema);
  const additional = additionalOf(schema);
  const structural = [
    ...(items ? [{ path: `${path}.items`, schema: items }] : []),
    ...Object.entries(schema.properties ?? {}).map(([name, field]) => {
      return { path: `${path}.properties[${name}]`, schema: field };
    }),
    ...(isSchema(additional) ? [{ path: `${path}.additionalProperties`, schema: additional }] : []),
  ];
  return [...structural.map((below) => ({ ...below, nested: false })), ...junctorsOf(schema, path)];
}

function junctorsOf(schema: Schema, path: string): Subschema[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const lists = Object.entries({ allOf, anyOf, oneOf }).flatMap(([name, list]) => {
    return list.map((item, index) => ({ path: `${path}.${name}[${index}]`, schema: item, nested: true }));
  });
  return not ? [...lists, { path: `${path}.not`, schema: not, nested: true }] : lists;
}

/** Every schema of a tree, the root first. */
export function* walkSchemas(schema: Schema, path = ""): Generator<Subschema> {
  yield { path, schema, nested: false };
  for (const below of subschemasOf(schema, path)) yield* walkSchemas(below.schema, below.path);
}
