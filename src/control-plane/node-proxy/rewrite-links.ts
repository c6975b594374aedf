/** The attributes that hold an address, by element (`atomsToAttrs` of apimachinery/pkg/util/proxy/transport.go). */
const ADDRESS_ATTRIBUTES: ReadonlyMap<string, readonly string[]> = new Map([
  ["a", ["href"]],
  ["applet", ["codebase"]],
  ["area", ["href"]],
  ["audio", ["src"]],
  ["base", ["href"]],
  ["blockquote", ["cite"]],
  ["body", ["background"]],
  ["button", ["formaction"]],
  ["command", ["icon"]],
  ["del", ["cite"]],
  ["embed", ["src"]],
  ["form", ["action"]],
  ["frame", ["longdesc", "src"]],
  ["head", ["profile"]],
  ["html", ["manifest"]],
  ["iframe", ["longdesc", "src"]],
  ["img", ["longdesc", "src", "usemap"]],
  ["input", ["src", "usemap", "formaction"]],
  ["ins", ["cite"]],
  ["link", ["href"]],
  ["object", ["classid", "codebase", "data", "usemap"]],
  ["q", ["cite"]],
  ["script", ["src"]],
  ["source", ["src"]],
  ["video", ["poster", "src"]],
]);
/** Elements whose content is text in which `<` begins no element. */
const TEXT_ELEMENTS = new Set(["script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp"]);
/** A longer tag goes through as it is. */
const MAX_TAG_CHARACTERS = 65_536;
const COMMENT_START = "<!--";

/**
 * Rewrites the addresses in a page as it comes, and changes no other byte. It holds back no more than one unfinished tag.
 * The page may have any encoding in which tags are ASCII.
 */
export async function* rewriteLinks(
  page: AsyncIterable<Uint8Array>,
  rewrite: (address: string) => string,
): AsyncGenerator<Buffer> {
  const scanner = createScanner(rewrite);
  for await (const chunk of page) yield Buffer.from(scanner.take(Buffer.from(chunk).toString("latin1")), "latin1");
  yield Buffer.from(scanner.rest(), "latin1");
}

interface Scanner {
  /** Returns what is finished. */
  take(text: string): string;
  /** Returns what is left when the page is over. */
  rest(): string;
}

/** What the scanner is in: between tags, in a comment, or in an element that holds text alone. */
type Place = { readonly end: string } | undefined;

function createScanner(rewrite: (address: string) => string): Scanner {
  let held = "";
  let place: Place;
  /** Takes one piece from the beginning of what is held: what it becomes, or undefined where more must come first. */
  const step = (): string | undefined => {
    if (place !== undefined) {
      const at = indexOfIgnoringCase(held, place.end);
      if (at === -1) return cut(Math.max(0, held.length - place.end.length + 1)) || undefined;
      const passed = cut(at + place.end.length);
      place = undefined;
      return passed;
    }
    const open = held.indexOf("<");
    if (open !== 0) return cut(open === -1 ? held.length : open) || undefined;
    if (held.startsWith(COMMENT_START)) {
      place = { end: "-->" };
      return cut(COMMENT_START.length);
    }
    if (COMMENT_START.startsWith(held)) return undefined;
    if (!/^<[a-z]/i.test(held)) return cut(1);
    const tag = scanTag(held);
    if (tag === undefined) return held.length > MAX_TAG_CHARACTERS ? cut(held.length) : undefined;
    if (TEXT_ELEMENTS.has(tag.name)) place = { end: `</${tag.name}` };
    return rewriteTag(cut(tag.end), tag, rewrite);
  };
  const cut = (length: number): string => {
    const passed = held.slice(0, length);
    held = held.slice(length);
    return passed;
  };
  return {
    take(text) {
      held += text;
      let finished = "";
      for (let piece = step(); piece !== undefined; piece = step()) finished += piece;
      return finished;
    },
    rest: () => cut(held.length),
  };
}

function indexOfIgnoringCase(text: string, wanted: string): number {
  return text.toLowerCase().indexOf(wanted);
}

interface Tag {
  readonly name: string;
  /** The index after its `>`. */
  readonly end: number;
  readonly values: ReadonlyArray<{ readonly attribute: string; readonly from: number; readonly to: number }>;
}

/** Scans the start tag at the beginning of the text. Undefined where its end has not come yet. */
function scanTag(text: string): Tag | undefined {
  const values: { attribute: string; from: number; to: number }[] = [];
  const name = take(/[^\s/>]+/y, text, 1);
  let at = name.end;
  for (;;) {
    at = take(/[\s/]*/y, text, at).end;
    if (at >= text.length) return undefined;
    if (text[at] === ">") return { name: name.found.toLowerCase(), end: at + 1, values };
    const attribute = take(/=?[^\s/>=]*/y, text, at);
    const equals = take(/\s*=\s*/y, text, attribute.end);
    at = Math.max(attribute.end, equals.end);
    if (at >= text.length) return undefined;
    if (equals.found === "") continue;
    const quote = text[at] === '"' || text[at] === "'" ? text[at] : undefined;
    const from = quote === undefined ? at : at + 1;
    const to = quote === undefined ? take(/[^\s>]*/y, text, at).end : text.indexOf(quote, from);
    if (to === -1 || to >= text.length) return undefined;
    values.push({ attribute: attribute.found.toLowerCase(), from, to });
    at = quote === undefined ? to : to + 1;
  }
}

/** What the pattern finds exactly there, which may be nothing. */
function take(pattern: RegExp, text: string, at: number): { found: string; end: number } {
  pattern.lastIndex = at;
  const found = pattern.exec(text)?.[0] ?? "";
  return { found, end: at + found.length };
}

function rewriteTag(text: string, { name, values }: Tag, rewrite: (address: string) => string): string {
  const attributes = ADDRESS_ATTRIBUTES.get(name) ?? [];
  let written = "";
  let at = 0;
  for (const { attribute, from, to } of values) {
    if (!attributes.includes(attribute)) continue;
    written += text.slice(at, from) + rewrite(text.slice(from, to));
    at = to;
  }
  return written + text.slice(at);
}
