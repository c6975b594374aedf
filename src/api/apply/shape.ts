import { isRecord } from "../object.ts";
import type { ListNode, SchemaNode } from "../schema-node.ts";

/** How a value is walked: the schema decides, or, where there is none, the value. */
export type Shape = "scalar" | "list" | "map";

const UNTYPED: SchemaNode = { kind: "untyped" };

/** Null takes any shape; where there is no schema it counts as a map. */
export function shapeOf(node: SchemaNode, value: unknown): Shape {
  if (node.kind === "scalar" || node.kind === "list") return node.kind;
  if (node.kind !== "untyped") return "map";
  if (Array.isArray(value)) return "list";
  return isRecord(value) || value === null || value === undefined ? "map" : "scalar";
}

/** The list whose items are told apart; undefined for one that is a single value. */
export function itemisedList(node: SchemaNode): ListNode | undefined {
  return node.kind === "list" && node.list !== "atomic" ? node : undefined;
}

/** A map or struct that is a single value. */
export function isAtomicMap(node: SchemaNode): boolean {
  return (node.kind === "struct" || node.kind === "map") && node.atomic;
}

/** The node of a map's entry; one without a schema for a field that the type does not have. */
export function entryNode(node: SchemaNode, name: string): SchemaNode {
  if (node.kind === "struct") return node.field(name) ?? UNTYPED;
  return node.kind === "map" ? node.values : UNTYPED;
}

/** A field that the type names, other than the key of a map. */
export function isNamedField(node: SchemaNode, name: string): boolean {
  return node.kind === "struct" && node.field(name) !== undefined;
}

/** Undefined for any value that is no list, null included. */
export function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Undefined for any value that is no map, null included. */
export function asMap(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

/** True for a value that is no list or map, and for one without entries. */
export function isEmpty(container: readonly unknown[] | Readonly<Record<string, unknown>> | undefined): boolean {
  if (container === undefined) return true;
  return (Array.isArray(container) ? container : Object.keys(container)).length === 0;
}
