import { isRecord } from "../object.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Converts between a message's fields and its value in JSON, where that is no object of these fields. */
interface JsonShape {
  toFields(value: unknown): Fields;
  /** `fields` without those that are zero. */
  fromFields(fields: Fields): unknown;
}

/** A list that is a message of its own, because protobuf knows no lists of lists. */
const LIST: JsonShape = {
  toFields: (items) => ({ items }),
  fromFields: ({ items = [] }) => items,
};

const SCHEMA_OR_BOOLEAN: JsonShape = {
  toFields: (value) => (isRecord(value) ? { allows: true, schema: value } : { allows: value }),
  fromFields: ({ allows = false, schema = allows }) => schema,
};

/** The shape of a schema, or of a list of the type that the field of that name holds. */
const schemaOrList = (field: string): JsonShape => ({
  toFields: (value) => (Array.isArray(value) ? { [field]: value } : { schema: value }),
  fromFields: ({ schema, [field]: list = [] }) => schema ?? list,
});

const SHAPES: ReadonlyMap<string, JsonShape> = new Map([
  ["apiextensions.v1.JSONSchemaPropsOrArray", schemaOrList("jSONSchemas")],
  ["apiextensions.v1.JSONSchemaPropsOrBool", SCHEMA_OR_BOOLEAN],
  ["apiextensions.v1.JSONSchemaPropsOrStringArray", schemaOrList("property")],
]);

/** Undefined for most messages, because they are objects in JSON. */
export function jsonShapeOf(message: string): JsonShape | undefined {
  return message.startsWith("Items:") ? LIST : SHAPES.get(message);
}
