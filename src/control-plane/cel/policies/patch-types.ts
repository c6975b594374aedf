import { plain, stringArg } from "../overload.ts";
import type { Vocabulary } from "../program.ts";
import type { CelType } from "../types.ts";
import * as types from "../types.ts";

const OBJECT_NAME = "Object";
/** The name of the type of one operation of a JSON patch. */
export const JSON_PATCH_NAME = "JSONPatch";

/** An object, or a part of one, of which any field may be set: whether it has such a field, its schema tells later. */
const objectType = (name: string): CelType => ({ kind: "object", name, fields: { get: () => types.DYN } });

/** What an ApplyConfiguration evaluates to. */
export const PATCH_OBJECT = objectType(OBJECT_NAME);

const JSON_PATCH: CelType = {
  kind: "object",
  name: JSON_PATCH_NAME,
  fields: new Map([
    ["op", types.STRING],
    ["path", types.STRING],
    ["from", types.STRING],
    ["value", types.DYN],
  ]),
};

/** What a JSONPatch evaluates to. */
export const JSON_PATCHES = types.listType(JSON_PATCH);

/** The types and functions of expressions that change objects: `Object.spec{…}`, `JSONPatch{…}`, `jsonpatch.escapeKey`. */
export const PATCH_VOCABULARY: Vocabulary = {
  findType(name) {
    if (name === JSON_PATCH_NAME) return JSON_PATCH;
    return name === OBJECT_NAME || name.startsWith(`${OBJECT_NAME}.`) ? objectType(name) : undefined;
  },
  functions: [
    plain("jsonpatch.escapeKey", [[types.STRING], types.STRING], ([key]) => {
      return stringArg(key).replaceAll("~", "~0").replaceAll("/", "~1");
    }),
  ],
};
