import type { FieldError } from "../../api/field-error.ts";
import { forbidden, invalid, required, unsupported } from "../../api/validation/problems.ts";
import { hasDefault, itemsOf, propertyOf, type Schema } from "./schema-props.ts";

/** The problems of a schema's rules for merging: `x-kubernetes-list-type`, `-list-map-keys` and `-map-type`. */
export function validateListType(schema: Schema, path: string): FieldError[] {
  const listType = schema["x-kubernetes-list-type"];
  return [
    ...checkMapType(schema, path),
    ...(listType === undefined ? [] : checkListType(schema, listType, path)),
    ...checkKeysBelong(schema, listType, path),
    ...(listType === "map" ? checkMapKeys(schema, path) : []),
  ];
}

function mustBeType(schema: Schema, type: string, extension: string, path: string): FieldError[] {
  const { type: actual = "" } = schema;
  if (actual === type) return [];
  const problem = `must be ${type} if ${extension} is specified`;
  return [actual === "" ? required(`${path}.type`, problem) : invalid(`${path}.type`, actual, problem)];
}

function checkMapType(schema: Schema, path: string): FieldError[] {
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return [];
  const errors = mustBeType(schema, "object", "x-kubernetes-map-type", path);
  if (mapType !== "atomic" && mapType !== "granular") {
    errors.push(unsupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  }
  return errors;
}

function checkListType(schema: Schema, listType: string, path: string): FieldError[] {
  const errors = mustBeType(schema, "array", "x-kubernetes-list-type", path);
  const at = `${path}.x-kubernetes-list-type`;
  if (!["atomic", "set", "map"].includes(listType)) errors.push(unsupported(at, listType, ["atomic", "set", "map"]));
  const items = itemsOf(schema);
  if (listType === "atomic" || !items) return errors;
  if (items.nullable === true) {
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  }
  if (listType === "set") errors.push(...checkSetItems(items, `${path}.items`));
  return errors;
}

/** The items of a set are compared as wholes. */
function checkSetItems(items: Schema, path: string): FieldError[] {
  const problem = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  const mapType = items["x-kubernetes-map-type"];
  if (items.type === "array" && listType !== undefined && listType !== "atomic") {
    return [invalid(`${path}.x-kubernetes-list-type`, listType, problem)];
  }
  if (items.type === "object" && mapType !== "atomic") {
    return [invalid(`${path}.x-kubernetes-map-type`, mapType ?? null, problem)];
  }
  return [];
}

function checkKeysBelong(schema: Schema, listType: string | undefined, path: string): FieldError[] {
  if ((schema["x-kubernetes-list-map-keys"] ?? []).length === 0 || listType === "map") return [];
  const at = `${path}.x-kubernetes-list-type`;
  const problem = "must be map if x-kubernetes-list-map-keys is non-empty";
  return [listType === undefined ? required(at, problem) : invalid(at, listType, problem)];
}

function checkMapKeys(schema: Schema, path: string): FieldError[] {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const at = `${path}.x-kubernetes-list-map-keys`;
  const errors = keys.length === 0 ? [required(at, "must not be empty if x-kubernetes-list-type is map")] : [];
  const items = itemsOf(schema);
  if (!items) {
    return [...errors, required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map")];
  }
  if (items.type !== "object") {
    const problem = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalid(`${path}.items.type`, items.type ?? "", problem)];
  }
  if (new Set(keys).size < keys.length) errors.push(invalid(at, keys, "must not contain duplicate entries"));
  if (keys.some((key) => !propertyOf(items, key))) {
    errors.push(invalid(at, keys, "entries must all be names of item properties"));
  }
  return [...errors, ...keys.flatMap((key) => checkMapKey(items, key, `${path}.items.properties[${key}]`))];
}

/** A key must be required or have a default, or items could not be told apart. */
function checkMapKey(items: Schema, key: string, path: string): FieldError[] {
  const field = propertyOf(items, key);
  if (!field) return [];
  const errors: FieldError[] = [];
  if (field.type === "array" || field.type === "object") {
    const problem = "must be a scalar type if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(`${path}.type`, field.type, problem));
  }
  if (!hasDefault(field) && !(items.required ?? []).includes(key)) {
    const problem =
      "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
    errors.push(required(`${path}.default`, problem));
  }
  if (field.nullable === true) {
    const problem = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
    errors.push(forbidden(`${path}.nullable`, problem));
  }
  return errors;
}
