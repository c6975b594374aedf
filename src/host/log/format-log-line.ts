import type { LogRecord } from "./log-record.ts";

const pad = (number: number, width: number) => String(number).padStart(width, "0");

/**
 * klog's structured line: `I1121 15:04:05.123000   12345 nodelet] "Pod started" pod="default/x" attempt=2`. It has
 * local time, the process id in place of the thread's, and the program or module in place of the source file.
 */
export function formatLogLine(record: LogRecord): string {
  const { logger, ...fields } = record.fields;
  const name = typeof logger === "string" && /^[\w./-]{1,64}$/.test(logger) ? logger : "nodelet";
  const pairs = Object.entries(fields).map(([key, value]) => ` ${formatKey(key)}=${formatValue(value)}`);
  return `${formatHeader(record)} ${name}] ${quote(record.message)}${pairs.join("")}`;
}

function formatHeader({ severity, at }: LogRecord): string {
  const date = new Date(at);
  const day = `${pad(date.getMonth() + 1, 2)}${pad(date.getDate(), 2)}`;
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => pad(part, 2)).join(":");
  return `${severity}${day} ${time}.${pad(date.getMilliseconds(), 3)}000 ${String(process.pid).padStart(7)}`;
}

function formatKey(key: string): string {
  return key.replace(/[^\w.\-/]/g, "_").slice(0, 64);
}

function formatValue(value: unknown): string {
  if (typeof value === "string") return quote(value);
  return typeof value === "object" && value !== null ? escapeControls(JSON.stringify(value)) : String(value);
}

/** Quotes the text, so that no value can end the line, start another or talk to a terminal. */
function quote(text: string): string {
  return escapeControls(JSON.stringify(text));
}

function escapeControls(json: string): string {
  return json.replace(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${pad16(character.charCodeAt(0))}`;
  });
}

function pad16(code: number): string {
  return code.toString(16).padStart(4, "0");
}
