import { isRecord } from "../object.ts";

/** Returns the record's own value, because a label may be called `constructor`. */
export function own(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Sets the record's own value, because a label may be called `__proto__`. */
export function setOwn(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") record[name] = value;
  else Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
}

/** True for the same JSON, whatever the order of the keys; a key whose value is undefined counts as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  return isRecord(a) && isRecord(b) && sameRecord(a, b);
}

function sameRecord(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  for (const name of Object.keys(a)) if (!sameJson(a[name], own(b, name))) return false;
  for (const name of Object.keys(b)) if (b[name] !== undefined && own(a, name) === undefined) return false;
  return true;
}

/** Characters that Go's encoder escapes in strings and JavaScript's does not. */
const ESCAPED_BY_GO = /[<>&\u2028\u2029]/g;

/** JSON as Go writes it: characters that are special in HTML are escaped, and the keys of objects are sorted. */
export function goJson(value: unknown): string {
  if (typeof value === "string") return escapeAsGo(JSON.stringify(value));
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value ?? null);
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return `{${names
    .sort()
    .map((name) => `${goJson(name)}:${goJson(value[name])}`)
    .join(",")}}`;
}

function escapeAsGo(text: string): string {
  return text.replace(ESCAPED_BY_GO, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
