import { type Decoded, decodeTyped } from "../../api/decode.ts";
import { type FieldError, fieldPath } from "../../api/field-error.ts";
import { SERVED_SCHEMA } from "../../api/gen/served-schema.ts";
import { isRecord } from "../../api/object.ts";
import { fieldOf, isEmbeddedResource, itemsOf, preservesUnknown, type Schema, TYPE_META } from "./schema-props.ts";

/** Deeper values are refused: they are not written by hand, and walks over them must end. */
const MAX_DEPTH = 200;
/** Larger objects are refused: all work on an object is one step that nobody else can interrupt. */
const MAX_VALUES = 60_000;
/** More unknown fields than this are dropped without a word. */
const MAX_WARNINGS = 20;

interface Pruning {
  readonly errors: FieldError[];
  readonly warnings: FieldError[];
  valuesLeft: number;
}

interface Place {
  readonly path: string;
  readonly depth: number;
  /** The value has apiVersion, kind and metadata even where its schema lacks them. */
  readonly isObject: boolean;
}

/**
 * The value without the fields that its schema does not have, each of which is a warning. Metadata, of the object itself
 * and of objects within it, is decoded as such. The result shares nothing with the given value.
 */
export function pruneUnspecified(schema: Schema, value: unknown): Decoded<unknown> {
  const pruning: Pruning = { errors: [], warnings: [], valuesLeft: MAX_VALUES };
  const pruned = prune(pruning, { value, schema }, { path: "", depth: 0, isObject: true });
  const { errors, warnings } = pruning;
  return { value: errors.length === 0 ? pruned : undefined, errors, warnings };
}

/** True when pruning does not change the value; defaults must be so. */
export function isPruned(schema: Schema, value: unknown): boolean {
  const pruning: Pruning = { errors: [], warnings: [], valuesLeft: MAX_VALUES };
  prune(pruning, { value, schema }, { path: "", depth: 0, isObject: isEmbeddedResource(schema) });
  return pruning.errors.length === 0 && pruning.warnings.length === 0;
}

interface Input {
  readonly value: unknown;
  /** True: the value has no schema and stays as it is; undefined: it has none, and no field of it stays. */
  readonly schema: Schema | true | undefined;
}

function prune(pruning: Pruning, { value, schema }: Input, place: Place): unknown {
  const { path, depth } = place;
  if (depth > MAX_DEPTH) {
    pruning.errors.push({ path, message: `more than ${MAX_DEPTH} levels` });
    return null;
  }
  if (pruning.valuesLeft-- <= 0) {
    if (pruning.valuesLeft === -1)
      pruning.errors.push({ path, message: `more than ${MAX_VALUES} values in one object` });
    return null;
  }
  if (Array.isArray(value)) {
    const items = isKnown(schema) ? itemSchema(schema) : schema;
    const isObject = isKnown(items) && isEmbeddedResource(items);
    return value.map((item: unknown, index) => {
      return prune(pruning, { value: item, schema: items }, { path: `${path}[${index}]`, depth: depth + 1, isObject });
    });
  }
  return isRecord(value) ? pruneRecord(pruning, { value, schema }, place) : value;
}

const isKnown = (schema: Schema | true | undefined): schema is Schema => schema !== true && schema !== undefined;

/** The schema of a list's items; a list that keeps unknown fields hands that on to them (`pruning.skipPrune`). */
function itemSchema(schema: Schema): Schema | true | undefined {
  const items = itemsOf(schema);
  if (!preservesUnknown(schema)) return items;
  return items === undefined || { ...items, "x-kubernetes-preserve-unknown-fields": true };
}

function pruneRecord(
  pruning: Pruning,
  { value, schema }: { value: Record<string, unknown>; schema: Schema | true | undefined },
  { path, depth, isObject }: Place,
): unknown {
  const kept: Array<[string, unknown]> = [];
  for (const [name, item] of Object.entries(value)) {
    const at = fieldPath(path, name);
    if (isObject && TYPE_META.has(name)) {
      kept.push([name, name === "metadata" ? decodeMetadata(pruning, item, at) : item]);
      continue;
    }
    const field = schema === true ? true : schema && knownField(schema, name);
    if (field === undefined) {
      if (pruning.warnings.length < MAX_WARNINGS) {
        pruning.warnings.push({ path: at, message: `unknown field "${at}"` });
      }
      continue;
    }
    const below = { path: at, depth: depth + 1, isObject: isKnown(field) && isEmbeddedResource(field) };
    kept.push([name, prune(pruning, { value: item, schema: field }, below)]);
  }
  return Object.fromEntries(kept);
}

/** The schema of a field; `additionalProperties: true` lets the field stay, without a schema for the part below it. */
function knownField(schema: Schema, name: string): Schema | true | undefined {
  const field = fieldOf(schema, name);
  if (typeof field === "object") return field;
  if (preservesUnknown(schema)) return true;
  return field === true ? NOTHING : undefined;
}

const NOTHING: Schema = {};

function decodeMetadata(pruning: Pruning, value: unknown, path: string): unknown {
  if (value === null) return undefined;
  const decoded = decodeTyped({ tables: SERVED_SCHEMA, type: "ObjectMeta" }, value, path);
  pruning.errors.push(...decoded.errors);
  pruning.warnings.push(...decoded.warnings);
  return decoded.value;
}
