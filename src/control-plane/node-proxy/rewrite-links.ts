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
type Place = { readonly end: RegExp; readonly endLength: number } | undefined;

/** The ends of comments and of elements that hold text alone, searched from a position on. */
const ENDS: ReadonlyMap<string, NonNullable<Place>> = new Map(
  ["-->", ...[...TEXT_ELEMENTS].map((name) => `</${name}`)].map((end) => {
    return [end, { end: new RegExp(end, "gi"), endLength: end.length }];
  }),
);

/**
 * Takes pieces of what is held from a position on, and cuts what is finished once a chunk, so that a page of many small
 * pieces takes no more time than one of few. A tag that is not finished is read again only when as much more has come,
 * or with its end.
 */
function createScanner(rewrite: (address: string) => string): Scanner {
  let held = "";
  let place: Place;
  /** How much must be held before an unfinished tag is read again; a `>` may end it, too. */
  let readAgainAt = 0;
  /** Takes one piece at the position: what it becomes and where it ends, or undefined where more must come first. */
  const step = (at: number): Piece | undefined => {
    if (place !== undefined) {
      const { end, endLength } = place;
      end.lastIndex = at;
      const found = end.exec(held);
      if (found === null) return pieceTo(at, Math.max(at, held.length - endLength + 1));
      place = undefined;
      return pieceTo(at, found.index + endLength);
    }
    const open = held.indexOf("<", at);
    if (open !== at) return pieceTo(at, open === -1 ? held.length : open);
    if (held.startsWith(COMMENT_START, at)) {
      place = ENDS.get("-->");
      return pieceTo(at, at + COMMENT_START.length);
    }
    const isShort = held.length - at < COMMENT_START.length;
    if (isShort && COMMENT_START.startsWith(held.slice(at))) return undefined;
    if (!/^<[a-z]/i.test(held.slice(at, at + 2))) return pieceTo(at, at + 1);
    const tag = scanTag(held, at);
    if (tag === undefined) return held.length - at > MAX_TAG_CHARACTERS ? pieceTo(at, held.length) : undefined;
    place = ENDS.get(`</${tag.name}`);
    return { text: rewriteTag(held, { at, tag }, rewrite), end: tag.end };
  };
  const pieceTo = (at: number, end: number): Piece | undefined => {
    return end === at ? undefined : { text: held.slice(at, end), end };
  };
  const cut = (length: number): string => {
    const passed = held.slice(0, length);
    held = held.slice(length);
    return passed;
  };
  return {
    take(text) {
      held += text;
      if (held.length < readAgainAt && !text.includes(">")) return "";
      const finished: string[] = [];
      let at = 0;
      for (let piece = step(at); piece !== undefined; piece = step(at)) {
        finished.push(piece.text);
        at = piece.end;
      }
      cut(at);
      readAgainAt = place === undefined ? Math.min(2 * held.length, MAX_TAG_CHARACTERS + 1) : 0;
      return finished.join("");
    },
    rest: () => cut(held.length),
  };
}

/** What becomes of a piece, and where it ends in what is held. */
interface Piece {
  readonly text: string;
  readonly end: number;
}

interface Tag {
  readonly name: string;
  /** The index after its `>`. */
  readonly end: number;
  readonly values: ReadonlyArray<{ readonly attribute: string; readonly from: number; readonly to: number }>;
}

/** Scans the start tag at the position. Undefined where its end has not come yet. */
function scanTag(text: string, from: number): Tag | undefined {
  const values: { attribute: string; from: number; to: number }[] = [];
  const name = take(/[^\s/>]+/y, text, from + 1);
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
    const start = quote === undefined ? at : at + 1;
    const to = quote === undefined ? take(/[^\s>]*/y, text, at).end : text.indexOf(quote, start);
    if (to === -1 || to >= text.length) return undefined;
    values.push({ attribute: attribute.found.toLowerCase(), from: start, to });
    at = quote === undefined ? to : to + 1;
  }
}

/** What the pattern finds exactly there, which may be nothing. */
function take(pattern: RegExp, text: string, at: number): { found: string; end: number } {
  pattern.lastIndex = at;
  const found = pattern.exec(text)?.[0] ?? "";
  return { found, end: at + found.length };
}

function rewriteTag(
  text: string,
  { at: from, tag: { name, values, end } }: { at: number; tag: Tag },
  rewrite: (address: string) => string,
): string {
  const attributes = ADDRESS_ATTRIBUTES.get(name) ?? [];
  let written = "";
  let at = from;
  for (const value of values) {
    if (!attributes.includes(value.attribute)) continue;
    written += text.slice(at, value.from) + rewrite(text.slice(value.from, value.to));
    at = value.to;
  }
  return written + text.slice(at, end);
}
