import type { SchemaNode } from "../schema-node.ts";
import { asList, asMap, isAtomicMap } from "./shape.ts";

/**
 * The paths of all parts of the value that are owned and replaced as a whole: laying one over another object would take
 * away what it does not name. Values of maps with any keys are not looked into, as upstream has it.
 */
export function listAtomicParts(node: SchemaNode, value: unknown, path = ""): string[] {
  const map = asMap(value);
  if (map) {
    if (node.kind === "list" || node.kind === "scalar") return [];
    const below = Object.entries(map).flatMap(([name, entry]) => {
      const field = fieldNode(node, name);
      return field ? listAtomicParts(field, entry, `${path}.${name}`) : [];
    });
    return isAtomicMap(node) ? [path, ...below] : below;
  }
  const items = asList(value);
  if (!items || (node.kind !== "list" && node.kind !== "untyped")) return [];
  const itemNode: SchemaNode = node.kind === "list" ? node.items : node;
  const below = items.flatMap((item, index) => listAtomicParts(itemNode, item, `${path}[${index}]`));
  return node.kind === "list" && node.list !== "atomic" ? below : [path, ...below];
}

function fieldNode(node: SchemaNode, name: string): SchemaNode | undefined {
  return node.kind === "struct" ? node.field(name) : undefined;
}
