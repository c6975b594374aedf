import { isRecord } from "../object.ts";
import type { ListNode } from "../schema-node.ts";
import { goJson, own } from "./json-value.ts";

/**
 * One step down into an object, written as FieldsV1 writes it: `f:spec` a field or key of a map, `k:{"name":"a"}` the
 * item of a list with these keys, `v:"x"` the item of a set, `i:0` an index. Equal steps have equal texts.
 */
export type PathElement = string;

/** Returns the element of a field of a struct or a key of a map. */
export const fieldElement = (name: string): PathElement => `f:${name}`;

/** The name of a field's element, undefined for an item of a list. */
export function fieldName(element: PathElement): string | undefined {
  return element.startsWith("f:") ? element.slice(2) : undefined;
}

/** A list's keys; `keyDefaults` is for nodes whose schema knows what an absent key stands for. */
type KeyedList = Pick<ListNode, "list" | "keys"> & { readonly keyDefaults?: Readonly<Record<string, unknown>> };

/** The protocol of a port is a key of its list and may be left out: the API's schema says TCP. */
const PORT_DEFAULTS: Readonly<Record<string, unknown>> = { protocol: "TCP" };
const PORT_KEYS = ["containerPort", "port"];

const sortedKeysByList = new WeakMap<KeyedList, readonly string[]>();

/**
 * Returns the element that distinguishes the item from the others of its list (`set` or `map`). Items that cannot be
 * told apart share an element.
 */
export function itemElement(list: KeyedList, item: unknown): PathElement {
  if (list.list !== "map") return `v:${goJson(item)}`;
  const fields: string[] = [];
  for (const key of sortedKeys(list)) {
    const value = keyValue(list, item, key);
    if (value !== undefined) fields.push(`${JSON.stringify(key)}:${goJson(value)}`);
  }
  return `k:{${fields.join(",")}}`;
}

/** Returns why the item cannot be told from the others. */
export function itemProblem(list: KeyedList, item: unknown): string | undefined {
  if (list.list !== "map") return setItemProblem(item);
  if (item === null) return "associative list with keys may not have a null element";
  if (!isRecord(item)) return "associative list with keys may not have non-map elements";
  if (list.keys.some((key) => keyValue(list, item, key) !== undefined)) return undefined;
  const keys = list.keys.map((key) => JSON.stringify(key)).join(" ");
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
}

function setItemProblem(item: unknown): string | undefined {
  if (item === null) return "associative list without keys has an element that's an explicit null";
  if (Array.isArray(item)) return "not supported: associative list with lists as elements";
  return isRecord(item) ? "associative list without keys has an element that's a map type" : undefined;
}

function keyValue(list: KeyedList, item: unknown, key: string): unknown {
  return (isRecord(item) ? own(item, key) : undefined) ?? keyDefault(list, key);
}

function keyDefault({ keys, keyDefaults }: KeyedList, key: string): unknown {
  const declared = keyDefaults && own(keyDefaults, key);
  if (declared !== undefined) return declared;
  return PORT_KEYS.some((name) => keys.includes(name)) ? own(PORT_DEFAULTS, key) : undefined;
}

function sortedKeys(list: KeyedList): readonly string[] {
  const known = sortedKeysByList.get(list);
  if (known) return known;
  const sorted = list.keys.toSorted();
  sortedKeysByList.set(list, sorted);
  return sorted;
}

/**
 * Parses the element of a text that came from outside into the one way to write it; undefined for a type of element
 * that a later version may have. Throws for a text that cannot be read.
 */
export function parseElement(text: string): PathElement | undefined {
  if (text.startsWith("f:")) return text;
  if (text.length < 2) throw new Error("key must be 2 characters long:");
  if (text[1] !== ":") throw new Error(`missing colon: ${text}`);
  const rest = text.slice(2);
  if (text[0] === "v") return `v:${goJson(JSON.parse(rest))}`;
  if (text[0] === "k") return parseKeys(rest);
  if (text[0] !== "i") return undefined;
  if (!/^[+-]?\d+$/.test(rest)) throw new Error(`${text}: invalid syntax`);
  return `i:${Number(rest)}`;
}

function parseKeys(text: string): PathElement {
  const keys: unknown = JSON.parse(text);
  if (!isRecord(keys)) throw new Error(`expected an object of keys, got ${text}`);
  return `k:${goJson(keys)}`;
}

const TYPES_IN_ORDER = "fkvi";

/** An element whose text was read once: a list of thousands is compared many times. */
interface ReadElement {
  readonly element: PathElement;
  /** The keys of an item, sorted by name; undefined for other elements. */
  readonly keys: ReadonlyArray<readonly [name: string, value: unknown]> | undefined;
  readonly value: unknown;
}

/**
 * Sorts into upstream's order: fields, then items by keys, then by value, then by index; within each type by content.
 */
export function sortElements(elements: readonly PathElement[]): PathElement[] {
  // Most lists have fields alone, whose order is that of their texts.
  if (elements.every((element) => element[0] === "f")) return elements.toSorted();
  return elements
    .map(readElement)
    .sort(compareElements)
    .map(({ element }) => element);
}

function readElement(element: PathElement): ReadElement {
  if (element[0] === "f") return { element, keys: undefined, value: element };
  const value: unknown = JSON.parse(element.slice(2));
  return { element, keys: isRecord(value) ? Object.entries(value) : undefined, value };
}

function compareElements(a: ReadElement, b: ReadElement): number {
  const [left, right] = [a.element.charAt(0), b.element.charAt(0)];
  if (left !== right) return TYPES_IN_ORDER.indexOf(left) - TYPES_IN_ORDER.indexOf(right);
  if (a.keys !== undefined && b.keys !== undefined) return compareKeys(a.keys, b.keys);
  return compareScalars(a.value, b.value);
}

type ReadKeys = NonNullable<ReadElement["keys"]>;

function compareKeys(left: ReadKeys, right: ReadKeys): number {
  for (const [index, [name, value]] of left.entries()) {
    const other = right[index];
    if (!other) return 1;
    const order = compareText(name, other[0]) || compareScalars(value, other[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

const SCALARS_IN_ORDER = ["number", "string", "boolean"];

function compareScalars(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === typeof b) return compareText(goJson(a), goJson(b));
  const rank = (value: unknown) => (SCALARS_IN_ORDER.indexOf(typeof value) + 4) % 4;
  return rank(a) - rank(b);
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Formats a path as conflicts name it: `.spec.containers[name="a"].image`. */
export function formatPath(path: readonly PathElement[]): string {
  return path.map(formatElement).join("");
}

/** `.name`, `[name="a",protocol="TCP"]`, `[="x"]`, `[0]`. */
export function formatElement(element: PathElement): string {
  const rest = element.slice(2);
  if (element[0] === "f") return `.${rest}`;
  if (element[0] === "i") return `[${rest}]`;
  const value: unknown = JSON.parse(rest);
  if (element[0] === "v" || !isRecord(value)) return `[=${showScalar(value)}]`;
  const keys = Object.entries(value).map(([name, key]) => `${name}=${showScalar(key)}`);
  return `[${keys.join(",")}]`;
}

const showScalar = (value: unknown) => JSON.stringify(value);
