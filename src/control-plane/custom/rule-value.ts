import { isRecord } from "../../api/object.ts";
import { durationNanos, parseDate, parseTimestamp, toDuration, toTimestamp } from "../cel/functions/time-text.ts";
import { plainValue } from "../cel/plain-value.ts";
import { type CelValue, celBytes, failure, type ListValue, type MapValue } from "../cel/values.ts";
import { reservedName, ruleProperties } from "./rule-schema.ts";
import { additionalOf, isEmbeddedResource, isIntOrString, itemsOf, type Schema } from "./schema-props.ts";

/** The value as expressions see it by its schema. What is in lists and objects is converted when it is read. */
export function ruleValue(schema: Schema, value: unknown, isResource = isEmbeddedResource(schema)): CelValue {
  if (value === null || value === undefined) return null;
  if (isIntOrString(schema)) return plainValue(value);
  if (Array.isArray(value)) return listValue(schema, value);
  if (isRecord(value)) return recordValue(schema, value, isResource);
  if (typeof value === "string") return textValue(schema.format, value);
  return schema.type === "number" && typeof value === "number" ? value : plainValue(value);
}

function textValue(format: string | undefined, text: string): CelValue {
  switch (format) {
    case "byte":
      return celBytes(Buffer.from(text, "base64"));
    case "duration": {
      const nanos = durationNanos(text);
      return nanos === undefined ? failure(`Invalid duration ${text}`) : toDuration(nanos);
    }
    case "date":
    case "date-time": {
      const nanos = format === "date" ? parseDate(text) : parseTimestamp(text);
      return nanos === undefined ? failure(`Invalid ${format} formatted string ${text}`) : toTimestamp(nanos);
    }
    default:
      return text;
  }
}

function listValue(schema: Schema, list: readonly unknown[]): ListValue {
  const items = itemsOf(schema) ?? {};
  const type = schema["x-kubernetes-list-type"];
  return {
    kind: "list",
    size: list.length,
    at: (index) => ruleValue(items, list[index]),
    ...(type === "set" && { listType: { type } }),
    ...(type === "map" && { listType: { type, keys: schema["x-kubernetes-list-map-keys"] ?? [] } }),
  };
}

function recordValue(schema: Schema, record: Readonly<Record<string, unknown>>, isResource: boolean): MapValue {
  const additional = additionalOf(schema);
  if (typeof additional === "object") {
    return {
      kind: "map",
      isObject: false,
      size: Object.keys(record).length,
      find: (key) => {
        return typeof key === "string" && Object.hasOwn(record, key) ? ruleValue(additional, record[key]) : undefined;
      },
      keys: () => Object.keys(record),
    };
  }
  const properties = ruleProperties(schema, isResource);
  const present = () => [...properties].filter(([, [name]]) => Object.hasOwn(record, name)).map(([escaped]) => escaped);
  return {
    kind: "map",
    isObject: true,
    size: present().length,
    find(key) {
      const [name, property] = (typeof key === "string" && properties.get(reservedName(key) ?? key)) || [];
      if (name === undefined || property === undefined || !Object.hasOwn(record, name)) return undefined;
      return ruleValue(property, record[name]);
    },
    keys: present,
  };
}
