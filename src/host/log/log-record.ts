import type { LogFields } from "../../base/log.ts";

/** klog's severities. A text line shows nothing else of a level. */
export type Severity = "E" | "W" | "I";

/** One line of the log before it is written; `at` in milliseconds since the epoch. */
export interface LogRecord {
  severity: Severity;
  verbosity: number;
  message: string;
  fields: LogFields;
  at: number;
}

/** The longest message, and the longest text of one value, in characters. The rest is cut and counted. */
const MAX_TEXT = 4_096;
const MAX_FIELDS = 32;
const MAX_ITEMS = 64;
const MAX_DEPTH = 4;

/** The message, cut at the limit. */
export function boundMessage(message: string): string {
  return cut(message);
}

/**
 * Turns fields into plain JSON values: errors become their messages, no value is endless, and `error` gets klog's key
 * `err`.
 */
export function boundFields(fields: LogFields): LogFields {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const bounded = entries.slice(0, MAX_FIELDS).map(([key, value]) => [key === "error" ? "err" : key, bound(value, 0)]);
  return Object.fromEntries(bounded);
}

function bound(value: unknown, depth: number): unknown {
  if (typeof value === "string") return cut(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value !== "object") return String(value);
  if (value instanceof Error) return cut(describeError(value));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "invalid date" : value.toISOString();
  if (value instanceof Uint8Array) return `${value.byteLength} bytes`;
  if (depth >= MAX_DEPTH) return "…";
  if (value instanceof Map) return bound(Object.fromEntries(value), depth);
  if (value instanceof Set || Array.isArray(value)) return boundList([...value], depth);
  return boundObject(Object.entries(value), depth);
}

function boundList(items: readonly unknown[], depth: number): unknown[] {
  const kept = items.slice(0, MAX_ITEMS).map((item) => bound(item, depth + 1));
  return items.length > MAX_ITEMS ? [...kept, `… ${items.length - MAX_ITEMS} more`] : kept;
}

function boundObject(entries: ReadonlyArray<readonly [string, unknown]>, depth: number): object {
  const kept = entries.slice(0, MAX_ITEMS).map(([key, value]) => [cut(key), bound(value, depth + 1)]);
  if (entries.length > MAX_ITEMS) kept.push(["…", entries.length - MAX_ITEMS]);
  return Object.fromEntries(kept);
}

/** The message includes its causes, a few steps back, because the first message often only says what was tried. */
function describeError(error: Error): string {
  const messages: string[] = [];
  let current: unknown = error;
  while (current instanceof Error && messages.length < 4) {
    if (!messages.some((message) => current instanceof Error && message.includes(current.message))) {
      messages.push(current.message || current.name);
    }
    current = current.cause;
  }
  return messages.join(": ");
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}… ${text.length - MAX_TEXT} more`;
}
