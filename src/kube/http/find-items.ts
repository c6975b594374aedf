/** Where an item is in the bytes of a list. */
interface ItemPlace {
  readonly start: number;
  readonly end: number;
}

interface ItemBounds {
  readonly maxItemBytes: number;
  /** The bound on each field beside the items, and on their number. */
  readonly maxFieldBytes: number;
  readonly maxFields: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Finds the items of a list in JSON, one a step, and looks at no more bytes in a step than the bounds say. What it returns
 * at the end is the list without its items, as text; undefined where the bytes are no object, or exceed a bound. Whether
 * the items and the rest are valid is for a parser to say.
 */
export function* findItems(bytes: Buffer, bounds: ItemBounds): Generator<ItemPlace, string | undefined> {
  const fields: string[] = [];
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) return undefined;
  at = skipSpace(bytes, at + 1);
  while (bytes[at] === QUOTE) {
    const nameEnd = endOfValue(bytes, at, bounds.maxFieldBytes);
    const colon = nameEnd === undefined ? -1 : skipSpace(bytes, nameEnd);
    if (nameEnd === undefined || bytes[colon] !== COLON || fields.length >= bounds.maxFields) return undefined;
    const name = bytes.toString("utf8", at, nameEnd);
    at = skipSpace(bytes, colon + 1);
    const isItems = name === '"items"' && bytes[at] === OPEN_LIST;
    const end = isItems ? yield* findElements(bytes, at, bounds) : endOfValue(bytes, at, bounds.maxFieldBytes);
    if (end === undefined) return undefined;
    fields.push(isItems ? `${name}:[]` : `${name}:${bytes.toString("utf8", at, end)}`);
    at = skipSpace(bytes, end);
    if (bytes[at] !== COMMA) break;
    at = skipSpace(bytes, at + 1);
  }
  const isWhole = bytes[at] === CLOSE_OBJECT && skipSpace(bytes, at + 1) === bytes.length;
  return isWhole ? `{${fields.join(",")}}` : undefined;
}

/** Returns the place after the list that begins at `open`. */
function* findElements(bytes: Buffer, open: number, bounds: ItemBounds): Generator<ItemPlace, number | undefined> {
  let at = skipSpace(bytes, open + 1);
  if (bytes[at] === CLOSE_LIST) return at + 1;
  for (;;) {
    const end = endOfValue(bytes, at, bounds.maxItemBytes);
    if (end === undefined) return undefined;
    yield { start: at, end };
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_LIST) return at + 1;
    if (bytes[at] !== COMMA) return undefined;
    at = skipSpace(bytes, at + 1);
  }
}

/** The place after the value that begins here; undefined where it does not end within `most` bytes. */
function endOfValue(bytes: Buffer, start: number, most: number): number | undefined {
  const limit = Math.min(bytes.length, start + most);
  let open = 0;
  let at = start;
  while (at < limit) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(bytes, at, limit);
      if (open === 0) return at <= limit ? at : undefined;
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) open++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      // The end of what the value stands in ends a number or a word.
      if (open === 0) return at;
      open--;
      if (open === 0) return at + 1;
    } else if (open === 0 && (byte === COMMA || isSpace(byte))) return at;
    at++;
  }
  return undefined;
}

/** The place after the closing quote; beyond `limit` where the string does not end before it. */
function endOfString(bytes: Buffer, start: number, limit: number): number {
  for (let at = start + 1; at < limit; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  return limit + 1;
}

/** No writer of JSON puts more than a line break and some indentation between two values. */
const MAX_SPACE = 1_024;

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < start + MAX_SPACE && isSpace(bytes[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
