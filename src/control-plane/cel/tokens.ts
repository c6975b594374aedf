import type { SourceProblem } from "./expression.ts";
import { readStringToken } from "./string-literal.ts";
import { type CelValue, uintOf } from "./values.ts";

/** A token of an expression. `text` is the source's, for messages. */
export interface Token {
  readonly type: "identifier" | "literal" | "operator" | "end";
  readonly text: string;
  readonly offset: number;
  /** The value of a literal, or the reason why it has none. */
  readonly value?: CelValue;
  readonly problem?: string;
  /** An identifier between backticks, which may be a field and nothing else. */
  readonly quoted?: boolean;
}

const SPACE = /(?:[\t\n\f\r ]+|\/\/[^\n]*)+/y;
const NUMBER = /0x[0-9a-fA-F]+[uU]?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|\d+[uU]?/y;
const IDENTIFIER = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const QUOTED = /`[a-zA-Z0-9_.\-/ ]+`/y;
const OPERATOR = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}=]/y;

/** The tokens of an expression, the end last; problems are characters and literals that make no token. */
export function tokenize(text: string): { tokens: Token[]; problems: SourceProblem[] } {
  const tokens: Token[] = [];
  const problems: SourceProblem[] = [];
  let offset = 0;
  while (offset < text.length) {
    const space = matchAt(SPACE, text, offset);
    offset += space.length;
    if (offset >= text.length) break;
    const token = readToken(text, offset);
    if (token === undefined) {
      const shown = String.fromCodePoint(text.codePointAt(offset) ?? 0);
      problems.push({ offset, message: `Syntax error: token recognition error at: '${shown}'` });
      offset += shown.length;
      continue;
    }
    if (token.problem !== undefined) problems.push({ offset, message: token.problem });
    tokens.push(token);
    offset += token.text.length;
  }
  tokens.push({ type: "end", text: "<EOF>", offset: text.length });
  return { tokens, problems };
}

function matchAt(pattern: RegExp, text: string, offset: number): string {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0] ?? "";
}

function readToken(text: string, offset: number): Token | undefined {
  const quoted = readStringToken(text, offset);
  if (quoted !== undefined) return { type: "literal", offset, ...quoted };
  const identifier = matchAt(IDENTIFIER, text, offset);
  if (identifier !== "") return wordToken(identifier, offset);
  const field = matchAt(QUOTED, text, offset);
  if (field !== "") return { type: "identifier", text: field, offset, quoted: true };
  const number = matchAt(NUMBER, text, offset);
  if (number !== "") return { type: "literal", text: number, offset, ...numberValue(number) };
  const operator = matchAt(OPERATOR, text, offset);
  return operator === "" ? undefined : { type: "operator", text: operator, offset };
}

const WORDS: ReadonlyMap<string, CelValue> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function wordToken(text: string, offset: number): Token {
  const value = WORDS.get(text);
  if (value !== undefined) return { type: "literal", text, offset, value };
  return { type: text === "in" ? "operator" : "identifier", text, offset };
}

const MAX_INT = 2n ** 63n;
const MAX_UINT = 2n ** 64n;

/** The value of a number; an int may be one too great, which its minus sign makes right. */
function numberValue(text: string): { value: CelValue } | { problem: string } {
  const isHex = text.startsWith("0x");
  if (/[uU]$/.test(text)) {
    const value = BigInt(text.slice(0, -1));
    return value < MAX_UINT ? { value: uintOf(value) } : { problem: "invalid uint literal" };
  }
  if (!isHex && /[.eE]/.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? { value } : { problem: "invalid double literal" };
  }
  const value = BigInt(text);
  return value <= MAX_INT ? { value } : { problem: "invalid int literal" };
}
