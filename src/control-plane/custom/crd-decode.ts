import { type Decoded, decodeTyped, type FieldTables } from "../../api/decode.ts";
import type { FieldError } from "../../api/field-error.ts";
import { SERVED_SCHEMA } from "../../api/gen/served-schema.ts";
import { isRecord } from "../../api/object.ts";

/**
 * The tables of fields, completed where they leave a schema open: items are a schema (a list of schemas is refused), and
 * an enum may have null in it. `additionalProperties` is a schema or a boolean, which no table can say.
 */
const TABLES: FieldTables = {
  ...SERVED_SCHEMA,
  JSONSchemaProps: { ...SERVED_SCHEMA["JSONSchemaProps"], items: "JSONSchemaProps", enum: "raw" },
};

/** The largest definitions in use have about half as many: a megabyte of schemas without descriptions. */
const MAX_VALUES = 60_000;

interface Problems {
  readonly errors: FieldError[];
  readonly warnings: FieldError[];
}

type Values = Record<string, unknown>;

/** A CRD whose schemas are decoded at all depths, so that unknown fields in them are found. */
export function decodeCrd(value: unknown): Decoded<unknown> {
  const decoded = decodeTyped({ tables: TABLES, type: "CustomResourceDefinition", maxValues: MAX_VALUES }, value);
  const problems: Problems = { errors: [...decoded.errors], warnings: [...decoded.warnings] };
  const settled = isRecord(decoded.value) ? settleCrd(problems, decoded.value) : decoded.value;
  return { value: problems.errors.length === 0 ? settled : undefined, ...problems };
}

function settleCrd(problems: Problems, crd: Values): Values {
  const { spec } = crd;
  if (!isRecord(spec) || !Array.isArray(spec["versions"])) return crd;
  const versions = spec["versions"].map((version: unknown, index) => {
    if (!isRecord(version) || !isRecord(version["schema"])) return version;
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    const openAPIV3Schema = settle(problems, version["schema"]["openAPIV3Schema"], path);
    return { ...version, schema: { ...version["schema"], ...(openAPIV3Schema !== undefined && { openAPIV3Schema }) } };
  });
  return { ...crd, spec: { ...spec, versions } };
}

const SCHEMAS = ["items", "not"];
const LISTS = ["allOf", "anyOf", "oneOf"];

/** The schema with every `additionalProperties` in it decoded. */
function settle(problems: Problems, schema: unknown, path: string): unknown {
  if (!isRecord(schema)) return schema;
  const result: Values = { ...schema };
  const { properties, additionalProperties } = schema;
  if (isRecord(properties)) {
    const fields = Object.entries(properties).map(([name, field]) => {
      return [name, settle(problems, field, `${path}.properties[${name}]`)];
    });
    result["properties"] = Object.fromEntries(fields);
  }
  for (const name of SCHEMAS) {
    if (isRecord(schema[name])) result[name] = settle(problems, schema[name], `${path}.${name}`);
  }
  for (const name of LISTS) {
    const list = schema[name];
    if (Array.isArray(list))
      result[name] = list.map((item, index) => settle(problems, item, `${path}.${name}[${index}]`));
  }
  if (additionalProperties !== undefined) {
    const at = `${path}.additionalProperties`;
    result["additionalProperties"] = settle(problems, decodeAdditional(problems, additionalProperties, at), at);
  }
  return result;
}

function decodeAdditional(problems: Problems, value: unknown, path: string): unknown {
  if (typeof value === "boolean") return value;
  const decoded = decodeTyped({ tables: TABLES, type: "JSONSchemaProps" }, value, path);
  problems.errors.push(...decoded.errors);
  problems.warnings.push(...decoded.warnings);
  return decoded.value;
}
