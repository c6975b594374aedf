import { messageOf } from "../base/errors.ts";
import type { Log, LogFields } from "../base/log.ts";

/**
 * Creates a log of one line for each record: time, level, message, fields as `key=value`. Debug records are dropped.
 */
export function createLineLog(write: (line: string) => void, now: () => number, fields: LogFields = {}): Log {
  const record = (level: string) => (message: string, more?: LogFields) => {
    write(`${new Date(now()).toISOString()} ${level} ${message}${formatFields({ ...fields, ...more })}\n`);
  };
  return {
    error: record("ERROR"),
    warn: record("WARN "),
    info: record("INFO "),
    debug: () => undefined,
    with: (more) => createLineLog(write, now, { ...fields, ...more }),
  };
}

function formatFields(fields: LogFields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${formatValue(value)}`)
    .join("");
}

function formatValue(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(messageOf(value));
  if (typeof value === "string" && /^[\w./:@~+-]+$/.test(value)) return value;
  return JSON.stringify(value) ?? String(value);
}
