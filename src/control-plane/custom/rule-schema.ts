import type { CelType } from "../cel/types.ts";
import * as types from "../cel/types.ts";
import { additionalOf, isEmbeddedResource, isIntOrString, itemsOf, type Schema } from "./schema-props.ts";

const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const ESCAPES: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** The name of a property in expressions; undefined for one that expressions cannot name. */
function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][\w./-]*$/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => ESCAPES[part] ?? part);
}

/** The escaped name of a property that a rule selects by a reserved word, which upstream takes for the property, too. */
export const reservedName = (selected: string) => (RESERVED.has(selected) ? `__${selected}__` : undefined);

const TEXT: Schema = { type: "string" };
const META: Schema = { type: "object", properties: { name: TEXT, generateName: TEXT } };

/** The properties of an object in expressions, by their escaped names. An object of the API has some by itself. */
export function ruleProperties(schema: Schema, isResource: boolean): ReadonlyMap<string, readonly [string, Schema]> {
  const cache = isResource ? RESOURCE_PROPERTIES : PROPERTIES;
  const known = cache.get(schema);
  if (known) return known;
  const own = isResource ? { apiVersion: TEXT, kind: TEXT, metadata: META } : {};
  const properties = new Map<string, readonly [string, Schema]>();
  for (const [name, property] of Object.entries({ ...schema.properties, ...own })) {
    const escaped = escapeName(name);
    if (escaped !== undefined) properties.set(escaped, [name, property]);
  }
  cache.set(schema, properties);
  return properties;
}

const PROPERTIES = new WeakMap<Schema, ReadonlyMap<string, readonly [string, Schema]>>();
const RESOURCE_PROPERTIES = new WeakMap<Schema, ReadonlyMap<string, readonly [string, Schema]>>();

/** The type of a schema's values in expressions; undefined for values that expressions do not see. */
export function ruleType(schema: Schema, name: string, isResource = isEmbeddedResource(schema)): CelType | undefined {
  if (isIntOrString(schema)) return types.DYN;
  switch (schema.type) {
    case "array": {
      const items = itemsOf(schema);
      const element = items && ruleType(items, `${name}.@idx`);
      return element && types.listType(element);
    }
    case "object":
      return objectType(schema, name, isResource);
    case "string":
      return TEXT_TYPES[schema.format ?? ""] ?? types.STRING;
    case "boolean":
      return types.BOOL;
    case "number":
      return types.DOUBLE;
    case "integer":
      return types.INT;
    default:
      return undefined;
  }
}

const TEXT_TYPES: Readonly<Record<string, CelType>> = {
  byte: types.BYTES,
  duration: types.DURATION,
  date: types.TIMESTAMP,
  "date-time": types.TIMESTAMP,
};

function objectType(schema: Schema, name: string, isResource: boolean): CelType | undefined {
  const additional = additionalOf(schema);
  if (typeof additional === "object") {
    const value = ruleType(additional, `${name}.@elem`);
    return value && types.mapType(types.STRING, value);
  }
  const fields = new Map<string, CelType>();
  for (const [escaped, [, property]] of ruleProperties(schema, isResource)) {
    const type = ruleType(property, `${name}.${escaped}`);
    if (type) fields.set(escaped, type);
  }
  return { kind: "object", name, fields: { get: (selected) => fields.get(reservedName(selected) ?? selected) } };
}
