import { isRecord } from "../object.ts";

/** Longer texts are cut: upstream prints whole lists into its messages. */
const MAX_LENGTH = 1000;

/** A JSON value as Go's `%v` prints it, which is how upstream's messages about patches show one: `map[name:a ports:[80]]`. */
export function formatGoValue(value: unknown): string {
  const text = format(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

function format(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(format).join(" ")}]`;
  if (!isRecord(value)) return String(value);
  const names = Object.keys(value).sort();
  return `map[${names.map((name) => `${name}:${format(value[name])}`).join(" ")}]`;
}

/** The type that Go gives a JSON value, as upstream's messages print it. */
export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return "%!s(<nil>)";
  if (Array.isArray(value)) return "[]interface {}";
  if (isRecord(value)) return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return typeof value === "bigint" || Number.isInteger(value) ? "int64" : "float64";
}
