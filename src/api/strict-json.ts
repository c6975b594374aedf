import { messageOf } from "../base/errors.ts";
import { badRequestError } from "./api-error.ts";
import { fieldPath } from "./field-error.ts";

interface ParseJsonOptions {
  /** True to look for fields that are written twice. Default false, because that takes a second walk over the text. */
  readonly duplicates?: boolean;
  /** Integers that a JavaScript number cannot hold exactly become a bigint. Default false: they are rounded. */
  readonly bigIntegers?: boolean;
}

interface ParsedJson {
  /** The value; a field that is written twice has the last of its values. */
  readonly value: unknown;
  /**
   * The duplicates in upstream's strict-decoding words: `duplicate field "spec.a"`. Each is there once, at most a
   * hundred.
   */
  readonly duplicates: string[];
}

/** The same limit as that of Go's decoder. */
const MAX_DEPTH = 10_000;
const MAX_DUPLICATES = 100;

/** Reads JSON. Throws BadRequest for a text that is no JSON, nests too deeply, or holds a number beyond all bounds. */
export function parseStrictJson(text: string, options: ParseJsonOptions = {}): ParsedJson {
  const value = parse(text);
  refuseBeyondBounds(value);
  const keepsBigIntegers = options.bigIntegers === true && /\d{16}/.test(text);
  if (options.duplicates !== true && !keepsBigIntegers) return { value, duplicates: [] };
  const walked = walkJson(text, keepsBigIntegers);
  return { value: keepsBigIntegers ? walked.value : value, duplicates: options.duplicates ? walked.duplicates : [] };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequestError(`the body of the request is not valid JSON: ${messageOf(error)}`);
  }
}

/** Walks level by level, because a value that nests too deeply must not be walked by recursion. */
function refuseBeyondBounds(root: unknown): void {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === "number" && !Number.isFinite(value)) {
        throw badRequestError("json: cannot unmarshal number into Go value of type float64");
      }
      if (typeof value !== "object" || value === null) continue;
      if (depth === MAX_DEPTH) throw badRequestError("exceeded max depth");
      for (const item of Object.values(value)) next.push(item);
    }
    level = next;
  }
}

/** An object or list that is still open. */
interface Frame {
  readonly path: string;
  readonly value: Map<string, unknown> | unknown[];
  /** In an object: the field to which the next value belongs. */
  field: string | undefined;
}

/** Builds the value of valid JSON anew, without recursion, and notes what `JSON.parse` does not report. */
function walkJson(text: string, keepsBigIntegers: boolean): ParsedJson {
  const frames: Frame[] = [];
  const duplicates = new Set<string>();
  let root: unknown;
  for (let position = 0; position < text.length; ) {
    const { token, end } = readToken(text, position);
    position = end;
    const top = frames.at(-1);
    if (token === "{" || token === "[") {
      frames.push({ path: pathOfNext(top), value: token === "{" ? new Map() : [], field: undefined });
    } else if (token === "}" || token === "]") {
      frames.pop();
      const closed = top?.value instanceof Map ? Object.fromEntries(top.value) : top?.value;
      root = place(frames.at(-1), closed);
    } else if (top?.value instanceof Map && top.field === undefined) {
      top.field = nameOf(token);
      if (top.value.has(top.field) && duplicates.size < MAX_DUPLICATES) {
        duplicates.add(`duplicate field ${JSON.stringify(fieldPath(top.path, top.field))}`);
      }
    } else if (token !== "") {
      root = place(top, scalarOf(token, keepsBigIntegers));
    }
  }
  return { value: root, duplicates: [...duplicates] };
}

/** Puts a value where it belongs, and returns it. The last value that is placed is the root. */
function place(parent: Frame | undefined, value: unknown): unknown {
  if (parent?.value instanceof Map) {
    parent.value.set(parent.field ?? "", value);
    parent.field = undefined;
  } else {
    parent?.value.push(value);
  }
  return value;
}

function pathOfNext(parent: Frame | undefined): string {
  if (parent === undefined) return "";
  if (parent.value instanceof Map) return fieldPath(parent.path, parent.field ?? "");
  return `${parent.path}[${parent.value.length}]`;
}

const SEPARATOR = /[\s,:]*/y;
const ATOM = /[^\s,:{}[\]"]+/y;

/** Reads the next bracket, string (with its quotes), number or word; `""` at the end. */
function readToken(text: string, position: number): { token: string; end: number } {
  SEPARATOR.lastIndex = position;
  SEPARATOR.test(text);
  const start = SEPARATOR.lastIndex;
  const first = text[start] ?? "";
  if (first === '"') {
    const end = endOfString(text, start);
    return { token: text.slice(start, end), end };
  }
  ATOM.lastIndex = start;
  const end = ATOM.test(text) ? ATOM.lastIndex : start + 1;
  return { token: text.slice(start, end), end };
}

function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

/** True if an odd number of backslashes stands before the quote. */
function isEscaped(text: string, quote: number): boolean {
  let before = quote;
  while (text[before - 1] === "\\") before--;
  return (quote - before) % 2 === 1;
}

function nameOf(token: string): string {
  return token.includes("\\") ? String(JSON.parse(token)) : token.slice(1, -1);
}

function scalarOf(token: string, keepsBigIntegers: boolean): unknown {
  if (token.startsWith('"')) return nameOf(token);
  const value: unknown = JSON.parse(token);
  const isRounded = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(token);
  return keepsBigIntegers && isRounded ? BigInt(token) : value;
}
