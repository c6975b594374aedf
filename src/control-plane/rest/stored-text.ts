import type { KubeObject } from "../../api/object.ts";
import type { StoredObject } from "../ports/object-store.ts";

/** A stored object for views that show little of it. */
interface StoredText {
  /** The place of its metadata in the JSON, in bytes. */
  readonly metadata: Span;
  parse(): KubeObject;
  /** Parsed without `metadata.managedFields`, which is never printed and takes as long to parse as all the rest. */
  parseRest(): KubeObject;
}

/** Takes the JSON of an object apart without parsing it. The text must come from `JSON.stringify`. */
export function storedTextOf({ json }: Pick<StoredObject, "json">): StoredText {
  const text = json.toString();
  const metadata = findMember(text, { object: 0, name: '"metadata"' });
  if (metadata === undefined) throw new Error("an object is stored without metadata");
  return {
    metadata: text.length === json.length ? metadata : bytesOf(text, metadata),
    parse: () => parseObject(text),
    parseRest() {
      const managed = findMember(text, { object: metadata.start, name: '"managedFields"' });
      return parseObject(managed ? `${text.slice(0, managed.start)}null${text.slice(managed.end)}` : text);
    },
  };
}

function parseObject(text: string): KubeObject {
  const object: KubeObject = JSON.parse(text);
  return object;
}

/** The same for text with characters beyond ASCII. */
function bytesOf(text: string, { start, end }: Span): Span {
  const begun = Buffer.byteLength(text.slice(0, start));
  return { start: begun, end: begun + Buffer.byteLength(text.slice(start, end)) };
}

/** The index at which a value begins, and the one after its end. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The value of the member with this name, in quotes, of the object that begins at `object`. */
function findMember(text: string, { object, name }: { object: number; name: string }): Span | undefined {
  let at = object + 1;
  while (text.charCodeAt(at) === QUOTE) {
    const start = endOfString(text, at) + 1;
    const end = endOfValue(text, start);
    if (start - at === name.length + 1 && text.startsWith(name, at)) return { start, end };
    at = text.charCodeAt(end) === COMMA ? end + 1 : end;
  }
  return undefined;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        if (depth === 0) return at;
        continue;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        // A number or a word ends where its object does.
        if (depth === 0) return at;
        if (--depth === 0) return at + 1;
        break;
      case COMMA:
        if (depth === 0) return at;
    }
    at++;
  }
  return text.length;
}

/** The place after the closing quote. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
  return text.length;
}
