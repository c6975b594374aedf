import { type CelValue, celBytes } from "./values.ts";

interface StringToken {
  readonly text: string;
  readonly value?: CelValue;
  readonly problem?: string;
}

const PREFIX = /(?:[rR][bB]?|[bB][rR]?)?(?="|')/y;

/** A string or bytes literal that begins at the offset; undefined when none does. */
export function readStringToken(text: string, offset: number): StringToken | undefined {
  PREFIX.lastIndex = offset;
  const prefix = PREFIX.exec(text)?.[0];
  if (prefix === undefined) return undefined;
  const start = offset + prefix.length;
  const quote = text.charAt(start);
  const delimiter = text.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  const isRaw = /r/i.test(prefix);
  const end = findEnd(text, start + delimiter.length, delimiter, isRaw);
  if (end === undefined) return undefined;
  const whole = text.slice(offset, end + delimiter.length);
  const content = text.slice(start + delimiter.length, end).replaceAll("\r\n", "\n");
  const isBytes = /b/i.test(prefix);
  if (isRaw) return { text: whole, value: isBytes ? celBytes(new TextEncoder().encode(content)) : content };
  const value = isBytes ? unescapeBytes(content) : unescapeString(content);
  return value === undefined ? { text: whole, problem: "unable to unescape string" } : { text: whole, value };
}

/** Where the closing delimiter stands; a literal with one quote ends on its line. */
function findEnd(text: string, from: number, delimiter: string, isRaw: boolean): number | undefined {
  for (let index = from; index < text.length; index++) {
    if (text.startsWith(delimiter, index)) return index;
    const character = text.charAt(index);
    if (delimiter.length === 1 && (character === "\n" || character === "\r")) return undefined;
    if (character === "\\" && !isRaw) index++;
  }
  return undefined;
}

const ESCAPE = /\\(?:([abfnrtv\\?"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|)/g;
/** What a letter after a backslash stands for. */
export const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function unescapeString(content: string): string | undefined {
  let isValid = true;
  const text = content.replaceAll(ESCAPE, (_whole, ...groups) => {
    const [control, hex, four, eight, octal] = groups;
    if (typeof control === "string") return CONTROL_ESCAPES[control] ?? control;
    const code =
      typeof octal === "string" ? Number.parseInt(octal, 8) : Number.parseInt(hex ?? four ?? eight ?? "", 16);
    if (Number.isInteger(code) && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff))
      return String.fromCodePoint(code);
    isValid = false;
    return "";
  });
  return isValid ? text : undefined;
}

function unescapeBytes(content: string): CelValue | undefined {
  const parts: number[] = [];
  let last = 0;
  for (const match of content.matchAll(ESCAPE)) {
    parts.push(...new TextEncoder().encode(content.slice(last, match.index)));
    const [whole, control, hex, four, eight, octal] = match;
    last = match.index + whole.length;
    if (control !== undefined) parts.push(...new TextEncoder().encode(CONTROL_ESCAPES[control] ?? control));
    else if (hex !== undefined) parts.push(Number.parseInt(hex, 16));
    else if (octal !== undefined) parts.push(Number.parseInt(octal, 8));
    else if (four !== undefined || eight !== undefined || whole === "\\") return undefined;
  }
  parts.push(...new TextEncoder().encode(content.slice(last)));
  return celBytes(Uint8Array.from(parts));
}
