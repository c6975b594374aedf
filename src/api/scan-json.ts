/** What a text of JSON holds, counted without building anything of it. */
interface JsonMeasure {
  /** Objects, lists and the places in them: at least as many as there are values. */
  readonly values: number;
  readonly depth: number;
  /** Names of fields, each time that one is written. */
  readonly names: number;
}

/** Where counting ends, because the text is refused anyway. */
interface JsonBounds {
  readonly maxValues: number;
  readonly maxDepth: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Counts what a text holds, up to the first bound that it exceeds. The text need not be valid JSON. */
export function measureJson(text: string, { maxValues, maxDepth }: JsonBounds): JsonMeasure {
  let values = 1;
  let open = 0;
  let depth = 0;
  let names = 0;
  for (let position = 0; position < text.length && values <= maxValues && depth <= maxDepth; position++) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) position = endOfString(text, position) - 1;
    else if (code === COMMA) values++;
    else if (code === COLON) names++;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      values++;
      open++;
      if (open > depth) depth = open;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) open--;
  }
  return { values, depth, names };
}

/** An object or list that is still open. */
interface Frame {
  /** The fields so far; undefined in a list. */
  readonly fields: Set<string> | undefined;
  /** In an object: the field to which the next value belongs. */
  field: string | undefined;
  /** In a list: the number of items before this one. */
  index: number;
}

/** Paths are shown to people; of a longer one the end is kept, where the field is. */
const MAX_PATH_LENGTH = 500;
/** The search ends after so many: whoever wrote more of them by accident has something to mend already. */
const MAX_FOUND = 1_000;

/** The paths of fields that valid JSON has more than once, each once, at most `most` of them. */
export function findDuplicateFields(text: string, most: number): string[] {
  const frames: Frame[] = [];
  const duplicates = new Set<string>();
  let found = 0;
  for (let position = 0; position < text.length && found < MAX_FOUND && duplicates.size < most; position++) {
    const code = text.charCodeAt(position);
    const top = frames.at(-1);
    if (code === OPEN_OBJECT || code === OPEN_LIST) {
      frames.push({ fields: code === OPEN_OBJECT ? new Set() : undefined, field: undefined, index: 0 });
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      frames.pop();
    } else if (code === COMMA && top !== undefined) {
      top.index++;
      top.field = undefined;
    } else if (code === QUOTE) {
      const end = endOfString(text, position);
      if (top?.fields !== undefined && top.field === undefined) {
        top.field = nameOf(text.slice(position, end));
        if (top.fields.has(top.field)) {
          found++;
          duplicates.add(pathOf(frames));
        }
        top.fields.add(top.field);
      }
      position = end - 1;
    }
  }
  return [...duplicates];
}

/** The path of the innermost field, or the end of it. */
function pathOf(frames: readonly Frame[]): string {
  let path = "";
  for (let depth = frames.length - 1; depth >= 0; depth--) {
    const { field, index } = frames[depth] ?? { index: 0 };
    const step = field === undefined ? `[${index}]` : field;
    path = path === "" || path.startsWith("[") ? `${step}${path}` : `${step}.${path}`;
    if (path.length > MAX_PATH_LENGTH) return `…${path.slice(-MAX_PATH_LENGTH)}`;
  }
  return path;
}

/** The place after the closing quote, or the end of a text without one. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote >= 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote < 0 ? text.length : quote + 1;
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
