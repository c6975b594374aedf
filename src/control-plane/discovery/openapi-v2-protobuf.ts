import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { isRecord } from "../../api/object.ts";
import type { JsonObject } from "./api-table.ts";
import type { SwaggerDocument } from "./openapi-v2.ts";

/**
 * The Swagger document as gnostic's `openapi.v2.Document`, the only form of it that kubectl reads. It has the fields
 * that client-go and kubectl look at: definitions in full, and the parameters and extensions of operations.
 * Field numbers are those of gnostic's `openapiv2/OpenAPIv2.proto`.
 */
export function encodeOpenApiV2({ swagger, info, paths, definitions }: SwaggerDocument): Buffer {
  const writer = new BinaryWriter();
  text(writer, 1, swagger);
  message(writer, 2, (inner) => {
    text(inner, 1, info.title);
    text(inner, 2, info.version);
  });
  message(writer, 8, (inner) => {
    for (const [path, item] of Object.entries(paths)) {
      named(inner, 2, path, (value) => writePathItem(value, item));
    }
  });
  message(writer, 9, (inner) => writeSchemas(inner, definitions));
  return Buffer.from(writer.finish());
}

const LENGTH_DELIMITED = 2;
const VARINT = 0;

function text(writer: BinaryWriter, field: number, value: unknown): void {
  if (typeof value === "string" && value !== "") writer.uint32((field << 3) | LENGTH_DELIMITED).string(value);
}

function flag(writer: BinaryWriter, field: number, value: unknown): void {
  if (value === true) writer.uint32((field << 3) | VARINT).bool(true);
}

function texts(writer: BinaryWriter, field: number, values: unknown): void {
  if (Array.isArray(values)) for (const value of values) text(writer, field, value);
}

function message(writer: BinaryWriter, field: number, write: (inner: BinaryWriter) => void): void {
  writer.uint32((field << 3) | LENGTH_DELIMITED).fork();
  write(writer);
  writer.join();
}

/** An entry of a map: name and value. */
function named(writer: BinaryWriter, field: number, name: string, write: (value: BinaryWriter) => void): void {
  message(writer, field, (entry) => {
    text(entry, 1, name);
    message(entry, 2, write);
  });
}

/** Extensions travel as YAML, of which JSON is a part. */
function extensions(writer: BinaryWriter, field: number, object: JsonObject): void {
  for (const [name, value] of Object.entries(object)) {
    if (name.startsWith("x-")) named(writer, field, name, (any) => text(any, 2, JSON.stringify(value)));
  }
}

const METHOD_FIELDS: Readonly<Record<string, number>> = { get: 2, put: 3, post: 4, delete: 5, patch: 8 };

function writePathItem(writer: BinaryWriter, item: Readonly<Record<string, JsonObject>>): void {
  for (const [method, operation] of Object.entries(item)) {
    const field = METHOD_FIELDS[method];
    if (field !== undefined) message(writer, field, (inner) => writeOperation(inner, operation));
  }
}

function writeOperation(writer: BinaryWriter, operation: JsonObject): void {
  texts(writer, 1, operation["tags"]);
  text(writer, 5, operation["operationId"]);
  texts(writer, 6, operation["produces"]);
  texts(writer, 7, operation["consumes"]);
  const { parameters } = operation;
  for (const parameter of Array.isArray(parameters) ? parameters : []) {
    if (isRecord(parameter))
      message(writer, 8, (item) => message(item, 1, (inner) => writeParameter(inner, parameter)));
  }
  extensions(writer, 13, operation);
}

function writeParameter(writer: BinaryWriter, parameter: JsonObject): void {
  const { name, in: where, description, required, schema, type } = parameter;
  if (where === "body") {
    message(writer, 1, (body) => {
      text(body, 2, name);
      text(body, 3, where);
      flag(body, 4, required);
      if (isRecord(schema)) message(body, 5, (inner) => writeSchema(inner, schema));
    });
    return;
  }
  const isQuery = where === "query";
  message(writer, 2, (nonBody) => {
    message(nonBody, isQuery ? 3 : 4, (inner) => {
      flag(inner, 1, required);
      text(inner, 2, where);
      text(inner, 3, description);
      text(inner, 4, name);
      text(inner, isQuery ? 6 : 5, type);
    });
  });
}

function writeSchemas(writer: BinaryWriter, schemas: JsonObject): void {
  for (const [name, schema] of Object.entries(schemas)) {
    if (isRecord(schema)) named(writer, 1, name, (value) => writeSchema(value, schema));
  }
}

function writeSchema(writer: BinaryWriter, schema: JsonObject): void {
  const { additionalProperties, items, properties, type } = schema;
  text(writer, 1, schema["$ref"]);
  text(writer, 2, schema["format"]);
  text(writer, 4, schema["description"]);
  texts(writer, 19, schema["required"]);
  if (isRecord(additionalProperties)) {
    message(writer, 21, (item) => message(item, 1, (inner) => writeSchema(inner, additionalProperties)));
  }
  if (typeof type === "string") message(writer, 22, (inner) => text(inner, 1, type));
  if (isRecord(items)) message(writer, 23, (item) => message(item, 1, (inner) => writeSchema(inner, items)));
  if (isRecord(properties)) message(writer, 25, (inner) => writeSchemas(inner, properties));
  extensions(writer, 31, schema);
}
