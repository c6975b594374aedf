import { CONTROL_ESCAPES } from "../cel/string-literal.ts";
import { additionalOf, propertyOf, type Schema } from "./schema-props.ts";

const PART = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y;
const ESCAPES: Readonly<Record<string, string>> = { ...CONTROL_ESCAPES, "'": "'", "\\": "\\" };

/**
 * The path that a rule's `fieldPath` names below its value, as problems show it: `.spec.map[key]`. Undefined for one
 * that leads to no field of the schema.
 */
export function readFieldPath(schema: Schema, text: string): string | undefined {
  let current: Schema | undefined = schema;
  let path = "";
  let offset = 0;
  while (offset < text.length && current) {
    PART.lastIndex = offset;
    const [whole, name, quoted = ""]: readonly (string | undefined)[] = PART.exec(text) ?? [];
    if (whole === undefined) return undefined;
    const key: string = name ?? quoted.replaceAll(/\\(.)/g, (_match, letter) => ESCAPES[letter] ?? letter);
    const field: Schema | undefined = propertyOf(current, key);
    const additional: Schema | boolean | undefined = additionalOf(current);
    path += field ? `.${key}` : `[${key}]`;
    current = field ?? (current.properties === undefined && typeof additional === "object" ? additional : undefined);
    offset += whole.length;
  }
  return current && path !== "" ? path : undefined;
}
