import { isRecord } from "../api/object.ts";
import { KUBELET_FLAGS } from "./flags.ts";

/** The values may be credentials. Upstream writes the same word for flags that it marks as classified. */
const CLASSIFIED = new Set(["manifest-url-header"]);

/** Describes every flag as `/flagz` shows it: the value that was given, or else the flag's own. */
export function describeFlags(given: ReadonlyMap<string, unknown>): Record<string, string> {
  const flags = KUBELET_FLAGS.map(({ name, type, initial }) => {
    const value = given.get(name) ?? initial;
    if (CLASSIFIED.has(name) && given.has(name)) return [name, "CLASSIFIED"] as const;
    // What help shows of a text has quotes, and a zero value is not shown there at all.
    return [name, typeof value === "string" ? value : (type.show(value) ?? plainText(value))] as const;
  });
  return Object.fromEntries(flags);
}

function plainText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return `[${value.map(plainText).join(",")}]`;
  if (!isRecord(value)) return String(value);
  return Object.entries(value)
    .map(([key, item]) => `${key}=${plainText(item)}`)
    .join(",");
}
