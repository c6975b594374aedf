import type { ListNode, SchemaNode } from "../schema-node.ts";
import { goJson } from "./json-value.ts";
import { formatElement, itemElement, itemProblem, type PathElement } from "./path-element.ts";
import { asList, asMap, entryNode, isNamedField, itemisedList, shapeOf } from "./shape.ts";

/**
 * Returns why a configuration cannot be applied, in upstream's words: fields that the type does not have, lists where
 * maps belong, items that cannot be told apart or are there twice. Undefined when it can be applied.
 */
export function checkApplied(node: SchemaNode, value: unknown): string | undefined {
  const problems = checkValue(node, value, "");
  if (problems.length <= 1) return problems[0];
  return ["errors:", ...problems.map((problem) => `  ${problem}`)].join("\n");
}

function checkValue(node: SchemaNode, value: unknown, path: string): string[] {
  if (value === null || value === undefined) return [];
  const shape = shapeOf(node, value);
  if (shape === "list") return checkItems(node, value, path);
  if (shape === "map") return checkEntries(node, value, path);
  const isScalar = asList(value) === undefined && asMap(value) === undefined;
  return isScalar ? [] : [at(path, `expected any scalar, got ${goJson(value)}`)];
}

function checkEntries(node: SchemaNode, value: unknown, path: string): string[] {
  const map = asMap(value);
  if (!map) return [at(path, `expected map, got ${goJson(value)}`)];
  const problems: string[] = [];
  for (const name of Object.keys(map)) {
    const [child, entry] = [entryNode(node, name), map[name]];
    // A map may have tens of thousands of texts, of which nothing is to be said.
    const isKnown = node.kind !== "struct" || isNamedField(node, name);
    if (isKnown && child.kind === "scalar" && typeof entry === "string") continue;
    const below = `${path}.${name}`;
    // There may be more problems than a call may have arguments.
    if (isKnown) for (const problem of checkValue(child, entry, below)) problems.push(problem);
    else problems.push(at(below, "field not declared in schema"));
  }
  return problems;
}

function checkItems(node: SchemaNode, value: unknown, path: string): string[] {
  const items = asList(value);
  if (!items) return [at(path, `expected list, got ${goJson(value)}`)];
  const list = itemisedList(node);
  if (list) return checkElements(list, items, path);
  const itemNode = node.kind === "list" ? node.items : entryNode(node, "");
  return items.flatMap((item, index) => checkValue(itemNode, item, `${path}[${index}]`));
}

function checkElements(list: ListNode, items: readonly unknown[], path: string): string[] {
  const problems: string[] = [];
  const seen = new Set<PathElement>();
  for (const [index, item] of items.entries()) {
    const problem = itemProblem(list, item);
    if (problem !== undefined) return [...problems, at(path, `element ${index}: ${problem}`)];
    const element = itemElement(list, item);
    const shown = formatElement(element);
    if (seen.has(element)) problems.push(at(path, `duplicate entries for key ${shown}`));
    seen.add(element);
    problems.push(...checkValue(list.items, item, path + shown));
  }
  return problems;
}

const at = (path: string, message: string) => (path === "" ? message : `${path}: ${message}`);
