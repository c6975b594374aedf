import { type FieldError, fieldPath } from "../../api/field-error.ts";
import { forbidden, invalid } from "../../api/validation/problems.ts";
import { validateEmbeddedObjects } from "./embedded-objects.ts";
import { validateListItems } from "./list-items.ts";
import { isPruned } from "./prune.ts";
import { hasDefault, isEmbeddedResource, type Schema, subschemasOf, TYPE_META } from "./schema-props.ts";
import { validateValue } from "./validate-value.ts";

/**
 * The problems of the defaults of a schema: an author could have written each of them in its place. None may be in the
 * metadata of the object itself, which the API server decodes before it looks at schemas.
 */
export function validateDefaults(schema: Schema, path: string): FieldError[] {
  return subschemasOf(schema, path).flatMap((part) => {
    const name = TOP_LEVEL.exec(part.path.slice(path.length))?.[1];
    const isMeta = name !== undefined && TYPE_META.has(name);
    return isMeta
      ? forbidDefaults(part.schema, part.path, `in top-level ${name}`)
      : checkDefaults(part.schema, part.path);
  });
}

const TOP_LEVEL = /^\.properties\[(\w+)\]$/;

function forbidDefaults(schema: Schema, path: string, where: string): FieldError[] {
  const below = subschemasOf(schema, path).flatMap((part) => forbidDefaults(part.schema, part.path, where));
  return [...(hasDefault(schema) ? [forbidden(`${path}.default`, `must not be set ${where}`)] : []), ...below];
}

function checkDefaults(schema: Schema, path: string): FieldError[] {
  const below = subschemasOf(schema, path).filter(({ nested }) => !nested);
  const errors = hasDefault(schema) ? checkDefault(schema, fieldPath(path, "default")) : [];
  return [...errors, ...below.flatMap((part) => checkDefaults(part.schema, part.path))];
}

function checkDefault(schema: Schema, path: string): FieldError[] {
  const { default: value } = schema;
  if (!isPruned(schema, value)) return [invalid(path, value, "must not have unknown fields")];
  const identity = isEmbeddedResource(schema) ? validateEmbeddedObjects(schema, value, path) : [];
  // The value is not in an object yet, and so has no path.
  const errors = validateValue(schema, value, path).map((error) => {
    return { ...error, message: error.message.replace(`: ${path}.`, ": ").replace(`: ${path} in body`, ":  in body") };
  });
  return [...identity, ...errors, ...validateListItems(schema, value, path)];
}
