import { SERVED_SCHEMA } from "../../../api/gen/served-schema.ts";
import type { CelType } from "../types.ts";
import * as types from "../types.ts";

const SCALARS: Readonly<Record<string, CelType>> = {
  string: types.STRING,
  boolean: types.BOOL,
  int32: types.INT,
  int64: types.INT,
  double: types.DOUBLE,
  bytes: types.BYTES,
  Time: types.TIMESTAMP,
  MicroTime: types.TIMESTAMP,
};

/**
 * The type of a built-in kind, or of a part of one, by its name in `SERVED_SCHEMA`. What may be of several types, such
 * as a quantity, is dynamic, and so is what has no schema.
 */
export function servedType(type: string): CelType {
  if (type.startsWith("[]")) return types.listType(servedType(type.slice(2)));
  if (type.startsWith("{}")) return types.mapType(types.STRING, servedType(type.slice(2)));
  const fields = SERVED_SCHEMA[type];
  if (fields === undefined) return SCALARS[type] ?? types.DYN;
  return {
    kind: "object",
    name: type,
    fields: {
      get(name) {
        const declared = Object.hasOwn(fields, name) ? fields[name] : undefined;
        return declared === undefined ? undefined : servedType(declared.replace(/!$/, ""));
      },
    },
  };
}
