import { isRecord } from "./object.ts";

/**
 * Formats a value of JSON as YAML in blocks, with a line's end. Texts that a parser could take for anything else are quoted
 * as JSON quotes them. A library that keeps comments and styles takes many times as long: an object may have tens of thousands
 * of values, and nobody else is served meanwhile.
 */
export function formatYaml(value: unknown): string {
  const lines: string[] = [];
  addValue(lines, value, { first: "", rest: "" });
  return `${lines.join("\n")}\n`;
}

/** The items of a list as they stand below its name. */
export function formatYamlItem(item: unknown): string {
  const lines: string[] = [];
  addValue(lines, item, { first: "  - ", rest: "    " });
  return `${lines.join("\n")}\n`;
}

/** What the lines of a value begin with. */
interface Margin {
  readonly first: string;
  readonly rest: string;
}

function addValue(lines: string[], value: unknown, margin: Margin): void {
  const plain = formatInLine(value);
  if (plain !== undefined) lines.push(`${margin.first}${plain}`);
  else if (Array.isArray(value)) addList(lines, value, margin);
  else if (isRecord(value)) addFields(lines, value, margin);
}

function addList(lines: string[], list: readonly unknown[], { first, rest }: Margin): void {
  let start = first;
  for (const item of list) {
    addValue(lines, item ?? null, { first: `${start}- `, rest: `${rest}  ` });
    start = rest;
  }
}

function addFields(lines: string[], object: Readonly<Record<string, unknown>>, { first, rest }: Margin): void {
  let start = first;
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    const key = formatText(name);
    const head = key.length > MAX_PLAIN_KEY ? `${start}? ${key}\n${rest}:` : `${start}${key}:`;
    const plain = formatInLine(value);
    start = rest;
    if (plain !== undefined) lines.push(`${head} ${plain}`);
    else {
      lines.push(head);
      addValue(lines, value, { first: `${rest}  `, rest: `${rest}  ` });
    }
  }
}

/** YAML takes no longer text for a name without a mark. */
const MAX_PLAIN_KEY = 1_000;

/** The value where it takes one line; undefined for a list or an object with something in it. */
function formatInLine(value: unknown): string | undefined {
  if (typeof value === "string") return formatText(value);
  if (Array.isArray(value)) return value.length === 0 ? "[]" : undefined;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  return Object.values(value).every((field) => field === undefined) ? "{}" : undefined;
}

const PLAIN = /^[A-Za-z/][A-Za-z0-9_./-]*$/;
/** Texts that some parser takes for a truth value, for nothing or for a number. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|e[-+]?[0-9_.]*)$/i;
/** What JSON leaves as it is and YAML does not have in a text. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

function formatText(text: string): string {
  if (PLAIN.test(text) && !RESERVED.test(text)) return text;
  return JSON.stringify(text).replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
