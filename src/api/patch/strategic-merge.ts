import { badRequestError } from "../api-error.ts";
import { isRecord } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";
import {
  addedFields,
  addedValue,
  DELETE_FROM_PRIMITIVE_LIST,
  directedField,
  isDirective,
  isListDirective,
  PATCH_DIRECTIVE,
  RETAIN_KEYS,
  SET_ELEMENT_ORDER,
  unknownPatchTypeError,
  wrongTypeError,
} from "./directives.ts";
import { ownField } from "./json-value.ts";
import { requireObjectPatch } from "./patch-error.ts";
import { listRulesOf, mergeLists, reorderList } from "./strategic-list.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the document as a strategic merge patch changes it. It works like a merge patch, but the schema says how
 * lists merge, and directives (`$patch`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`, `$retainKeys`) steer it.
 * An object keeps its kind and version whatever the patch says of them: upstream knows them by the Go type. Fields that
 * the schema does not have are kept, and decoding reports them. Neither argument is changed; the result may share parts
 * with both. Throws BadRequest for a malformed patch, also where upstream answers with 500.
 */
export function applyStrategicMergePatch(document: unknown, patch: unknown, node: SchemaNode): unknown {
  const current = isRecord(document) ? document : {};
  return { ...mergeObjects(current, requireObjectPatch(patch), node), ...typeOf(current) };
}

function typeOf(document: Fields): Fields {
  return Object.fromEntries(Object.entries(document).filter(([field]) => field === "apiVersion" || field === "kind"));
}

function mergeObjects(current: Fields, patch: Fields, node: SchemaNode | undefined): Fields {
  if (Object.hasOwn(patch, PATCH_DIRECTIVE)) return heedPatchDirective(patch);
  const merged = new Map(Object.entries(retainedFields(current, patch)));
  const ordered = mergeOrderedLists(merged, patch, node);
  for (const [field, change] of Object.entries(patch)) {
    if (!isDirective(field) && !ordered.has(field)) mergeField(merged, { field, change, node });
  }
  for (const [name, scalars] of Object.entries(patch)) {
    if (name.startsWith(DELETE_FROM_PRIMITIVE_LIST)) deleteScalars(merged, name, scalars);
  }
  return Object.fromEntries(merged);
}

function heedPatchDirective(patch: Fields): Fields {
  const directive = patch[PATCH_DIRECTIVE];
  if (directive === "replace") return addedFields(patch);
  if (directive === "delete") return {};
  throw unknownPatchTypeError(directive, patch);
}

/** `$retainKeys` must name every field that the patch sets; the object's other fields are removed. */
function retainedFields(current: Fields, patch: Fields): Fields {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return current;
  const retained: unknown = patch[RETAIN_KEYS];
  const isComplete =
    Array.isArray(retained) &&
    Object.entries(patch).every(([name, change]) => {
      return change === null || name === RETAIN_KEYS || isListDirective(name) || retained.includes(name);
    });
  if (!isComplete) throw badRequestError("invalid patch format of retainKeys");
  return Object.fromEntries(Object.entries(current).filter(([name]) => retained.includes(name)));
}

/**
 * Merges and sorts the lists that have a `$setElementOrder`, and returns the fields of the patch that this has dealt
 * with.
 */
function mergeOrderedLists(
  merged: Map<string, unknown>,
  patch: Fields,
  node: SchemaNode | undefined,
): ReadonlySet<string> {
  const done = new Set<string>();
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(SET_ELEMENT_ORDER)) continue;
    if (!Array.isArray(order)) throw wrongTypeError([], order);
    const field = directedField(name, SET_ELEMENT_ORDER);
    const rules = listRulesOf(requireFieldNode(node, field), mergeObjects);
    const live = optionalList(merged.get(field));
    const change = optionalList(ownField(patch, field));
    if (live === undefined && change === undefined) continue;
    const unmerged = { items: live ?? addedList(change), live: live ?? [] };
    const list = live && change ? mergeLists(live, change, rules) : unmerged;
    merged.set(field, reorderList(list, { order, patch: change ?? [] }, rules));
    done.add(field);
  }
  return done;
}

function optionalList(value: unknown): readonly unknown[] | undefined {
  if (value === undefined || Array.isArray(value)) return value;
  throw wrongTypeError([], value);
}

function addedList(items: readonly unknown[] = []): unknown[] {
  return items.map(addedValue).filter((item) => item !== undefined);
}

function mergeField(
  merged: Map<string, unknown>,
  { field, change, node }: { field: string; change: unknown; node: SchemaNode | undefined },
): void {
  const current = merged.get(field);
  if (change === null) {
    merged.delete(field);
  } else if (isRecord(current) && isRecord(change)) {
    const fieldNode = nodeOfField(node, field);
    const isReplaced = fieldNode?.kind === "struct" && fieldNode.patch.includes("replace");
    merged.set(field, isReplaced ? change : mergeObjects(current, change, fieldNode));
  } else if (Array.isArray(current) && Array.isArray(change)) {
    merged.set(field, mergeLists(current, change, listRulesOf(nodeOfField(node, field), mergeObjects)).items);
  } else {
    const added = addedValue(change);
    if (added === undefined) merged.delete(field);
    else merged.set(field, added);
  }
}

/**
 * Deletes the scalars whatever the schema says about the list. Null removes the list, as it would without the
 * directive.
 */
function deleteScalars(merged: Map<string, unknown>, name: string, scalars: unknown): void {
  const field = directedField(name, DELETE_FROM_PRIMITIVE_LIST);
  if (scalars === null) {
    merged.delete(field);
    return;
  }
  if (!Array.isArray(scalars)) throw badRequestError("invalid patch format of primitive list");
  const current = merged.get(field);
  if (!Array.isArray(current)) return;
  const deleted = new Set<unknown>(scalars);
  merged.set(
    field,
    current.filter((item) => !deleted.has(item)),
  );
}

/** Undefined where there is no schema: objects merge by field there and lists are replaced. */
function nodeOfField(node: SchemaNode | undefined, field: string): SchemaNode | undefined {
  if (node?.kind === "struct") return node.field(field);
  return node?.kind === "map" ? node.values : undefined;
}

function requireFieldNode(node: SchemaNode | undefined, field: string): SchemaNode | undefined {
  const fieldNode = nodeOfField(node, field);
  if (node?.kind !== "struct" || fieldNode !== undefined) return fieldNode;
  throw badRequestError(`unable to find api field "${field}"`);
}
