import type { Expression, MapEntry, SourceProblem, StructField } from "./expression.ts";
import { expandMacro, isMacro } from "./macros.ts";
import { type Token, tokenize } from "./tokens.ts";
import { type CelValue, kindOf } from "./values.ts";

/** The longest expression, in characters, as cel-go has it. */
const MAX_LENGTH = 100_000;
/** The deepest nesting, and the longest chain of operators, as cel-go has it. */
const MAX_DEPTH = 250;

const RESERVED = new Set(
  "as break const continue else false for function if import in let loop package namespace null return true var void while".split(
    " ",
  ),
);

/** The expression, or why it is none. */
export function parseExpression(text: string): { expression: Expression } | { problems: readonly SourceProblem[] } {
  if (text.length > MAX_LENGTH) {
    const message = `expression code point size exceeds limit: size: ${text.length}, limit ${MAX_LENGTH}`;
    return { problems: [{ offset: 0, message }] };
  }
  const { tokens, problems } = tokenize(text);
  if (problems.length > 0) return { problems };
  const end: Token = { type: "end", text: "<EOF>", offset: text.length };
  const parser: Parser = { tokens, end, problems: [], position: 0, depth: 0 };
  const expression = parseAll(parser);
  return expression === undefined ? { problems: parser.problems } : { expression };
}

type Parsed = Expression | undefined;

/** The binary operators of each level, which all associate to the left. */
const BINARY: Readonly<Record<"relation" | "sum" | "product", readonly string[]>> = {
  relation: ["<", "<=", ">=", ">", "==", "!=", "in"],
  sum: ["+", "-"],
  product: ["*", "/", "%"],
};

/** The parser stops at the first problem: each function below returns undefined after one. */
interface Parser {
  readonly tokens: readonly Token[];
  readonly end: Token;
  readonly problems: SourceProblem[];
  position: number;
  depth: number;
}

const peek = (p: Parser, ahead = 0): Token => p.tokens[p.position + ahead] ?? p.end;
const isNext = (p: Parser, text: string) => peek(p).type === "operator" && peek(p).text === text;

function fail(p: Parser, message: string, { offset }: { offset: number } = peek(p)): undefined {
  if (p.problems.length === 0) p.problems.push({ offset, message });
  return undefined;
}

function unexpected(p: Parser, expected: string): undefined {
  return fail(p, `Syntax error: mismatched input '${peek(p).text}' expecting ${expected}`);
}

function take(p: Parser, text: string): Token | undefined {
  if (!isNext(p, text)) return unexpected(p, `'${text}'`);
  return p.tokens[p.position++];
}

function nested<Result>(p: Parser, parse: () => Result | undefined): Result | undefined {
  if (p.depth >= MAX_DEPTH) return fail(p, `expression recursion limit exceeded: ${MAX_DEPTH}`);
  p.depth++;
  const result = parse();
  p.depth--;
  return result;
}

function parseAll(p: Parser): Parsed {
  const expression = parseTernary(p);
  if (expression !== undefined && peek(p).type !== "end") return unexpected(p, "<EOF>");
  return expression;
}

function parseTernary(p: Parser): Parsed {
  return nested(p, () => {
    const condition = parseLogical(p, "||");
    if (condition === undefined || !isNext(p, "?")) return condition;
    const { offset } = peek(p);
    p.position++;
    const yes = parseLogical(p, "||");
    if (yes === undefined || take(p, ":") === undefined) return undefined;
    const no = parseTernary(p);
    if (no === undefined) return undefined;
    return { node: "call", function: "_?_:_", target: undefined, args: [condition, yes, no], offset };
  });
}

function parseLogical(p: Parser, operator: "||" | "&&"): Parsed {
  const next = () => (operator === "||" ? parseLogical(p, "&&") : parseBinary(p, "relation"));
  const first = next();
  if (first === undefined || !isNext(p, operator)) return first;
  const { offset } = peek(p);
  const terms = [first];
  while (isNext(p, operator)) {
    p.position++;
    const term = next();
    if (term === undefined) return undefined;
    terms.push(term);
  }
  return { node: "logical", operator, terms, offset };
}

function parseBinary(p: Parser, level: "relation" | "sum" | "product"): Parsed {
  const next = () => {
    if (level === "relation") return parseBinary(p, "sum");
    return level === "sum" ? parseBinary(p, "product") : parseUnary(p);
  };
  let left = next();
  let chain = 0;
  while (left !== undefined && peek(p).type === "operator" && BINARY[level].includes(peek(p).text)) {
    if (p.depth + ++chain > MAX_DEPTH) return fail(p, `expression recursion limit exceeded: ${MAX_DEPTH}`);
    const { text, offset } = peek(p);
    p.position++;
    const right: Parsed = next();
    if (right === undefined) return undefined;
    const name = text === "in" ? "@in" : `_${text}_`;
    left = { node: "call", function: name, target: undefined, args: [left, right], offset };
  }
  return left;
}

function parseUnary(p: Parser): Parsed {
  const { text, offset, type } = peek(p);
  if (type !== "operator" || (text !== "!" && text !== "-")) return parseMember(p);
  let count = 0;
  while (isNext(p, text) && !(text === "-" && isNumber(peek(p, 1)))) {
    p.position++;
    count++;
  }
  const isOther = isNext(p, "!") || (isNext(p, "-") && !isNumber(peek(p, 1)));
  const operand = isOther ? nested(p, () => parseUnary(p)) : parseMember(p);
  if (operand === undefined) return undefined;
  if (count % 2 === 0) return operand;
  return { node: "call", function: text === "!" ? "!_" : "-_", target: undefined, args: [operand], offset };
}

function parseMember(p: Parser): Parsed {
  const start = p.position;
  let operand = parsePrimary(p);
  let chain = 0;
  while (operand !== undefined && (isNext(p, ".") || isNext(p, "[") || isNext(p, "{"))) {
    if (p.depth + ++chain > MAX_DEPTH) return fail(p, `expression recursion limit exceeded: ${MAX_DEPTH}`);
    if (isNext(p, "{")) operand = parseStruct(p, typeNameOf(p.tokens.slice(start, p.position)));
    else operand = isNext(p, ".") ? parseDot(p, operand) : parseIndex(p, operand);
  }
  return operand;
}

function parseDot(p: Parser, operand: Expression): Parsed {
  const { offset } = peek(p);
  p.position++;
  const isOptional = isNext(p, "?");
  if (isOptional) p.position++;
  const { type, text, quoted } = peek(p);
  if (type !== "identifier" && !(type === "literal" && RESERVED.has(text))) return unexpected(p, "IDENTIFIER");
  const name = p.tokens[p.position++];
  if (name === undefined) return undefined;
  const field = quoted ? text.slice(1, -1) : text;
  if (isOptional) return { node: "select", operand, field, form: "optional", offset };
  if (quoted || !isNext(p, "(")) return { node: "select", operand, field, form: "plain", offset };
  const open = peek(p);
  const args = parseArguments(p);
  return args && call(p, { name: field, target: operand, args, offset: open.offset });
}

/** The name that the tokens are; undefined when they are another expression. */
function typeNameOf(tokens: readonly Token[]): string | undefined {
  const isName = tokens.every(({ type, text, quoted }) => (type === "identifier" ? !quoted : text === "."));
  const text = tokens.map((token) => token.text).join("");
  return isName ? text.replace(/^\./, "") : undefined;
}

function parseStruct(p: Parser, typeName: string | undefined): Parsed {
  if (typeName === undefined) return unexpected(p, "<EOF>");
  const { offset } = peek(p);
  const fields = parseItems(p, "{", "}", (): StructField | undefined => {
    const optional = isNext(p, "?");
    if (optional) p.position++;
    const { type, text, quoted } = peek(p);
    if (type !== "identifier") return unexpected(p, "IDENTIFIER");
    p.position++;
    const colon = take(p, ":");
    const value = colon && parseTernary(p);
    return value && { name: quoted ? text.slice(1, -1) : text, value, optional, offset: colon.offset };
  });
  return fields && { node: "struct", typeName, fields, offset };
}

function parseIndex(p: Parser, operand: Expression): Parsed {
  const { offset } = peek(p);
  p.position++;
  const isOptional = isNext(p, "?");
  if (isOptional) p.position++;
  const index = parseTernary(p);
  if (index === undefined || take(p, "]") === undefined) return undefined;
  const name = isOptional ? "_[?_]" : "_[_]";
  return { node: "call", function: name, target: undefined, args: [operand, index], offset };
}

function parseArguments(p: Parser): Expression[] | undefined {
  const items = parseItems(p, "(", ")", () => parseTernary(p));
  return items;
}

/** Items between brackets, with commas between them and one allowed after the last. */
function parseItems<Item>(p: Parser, open: string, close: string, parse: () => Item | undefined): Item[] | undefined {
  if (take(p, open) === undefined) return undefined;
  const items: Item[] = [];
  while (!isNext(p, close)) {
    const item = parse();
    if (item === undefined) return undefined;
    items.push(item);
    if (isNext(p, ",")) p.position++;
    else if (!isNext(p, close)) return unexpected(p, `'${close}'`);
  }
  p.position++;
  return items;
}

/** A call, or what a macro of that name stands for. */
function call(p: Parser, macro: CallParts): Parsed {
  const { name, target, args, offset } = macro;
  if (!isMacro(name, target, args.length)) return { node: "call", function: name, target, args, offset };
  const expanded = expandMacro(macro);
  if ("message" in expanded) return fail(p, expanded.message, expanded);
  return expanded;
}

interface CallParts {
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
  readonly offset: number;
}

function parsePrimary(p: Parser): Parsed {
  const { type, offset, value, quoted } = peek(p);
  if (type === "literal" && value !== undefined) return parseLiteral(p, value);
  if (isNext(p, "-")) return parseNegative(p);
  if (isNext(p, "(")) return parseParentheses(p);
  if (isNext(p, "[")) return parseList(p);
  if (isNext(p, "{")) return parseMap(p);
  const isAbsolute = isNext(p, ".");
  if (isAbsolute) p.position++;
  if (peek(p).type !== "identifier" || quoted) {
    return unexpected(
      p,
      "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    );
  }
  const name = peek(p).text;
  if (RESERVED.has(name)) return fail(p, `reserved identifier: ${name}`);
  p.position++;
  if (isNext(p, "(")) {
    const open = peek(p);
    const args = parseArguments(p);
    return args && call(p, { name, target: undefined, args, offset: open.offset });
  }
  return { node: "identifier", name, offset: isAbsolute ? offset + 1 : offset };
}

function parseLiteral(p: Parser, value: CelValue): Parsed {
  const token = peek(p);
  if (value === 2n ** 63n) return fail(p, "invalid int literal");
  p.position++;
  return { node: "literal", value, offset: token.offset };
}

/** A number with its sign, so that the smallest int can be written. */
function parseNegative(p: Parser): Parsed {
  const { offset } = peek(p);
  const { value } = peek(p, 1);
  p.position += 2;
  if (typeof value === "bigint") return { node: "literal", value: -value, offset };
  return typeof value === "number" ? { node: "literal", value: -value, offset } : undefined;
}

function parseParentheses(p: Parser): Parsed {
  p.position++;
  const inner = parseTernary(p);
  return inner !== undefined && take(p, ")") !== undefined ? inner : undefined;
}

function parseList(p: Parser): Parsed {
  const { offset } = peek(p);
  const items = parseItems(p, "[", "]", () => {
    const optional = isNext(p, "?");
    if (optional) p.position++;
    const value = parseTernary(p);
    return value && { value, optional };
  });
  return items && { node: "list", items, offset };
}

function parseMap(p: Parser): Parsed {
  const { offset } = peek(p);
  const entries = parseItems(p, "{", "}", (): MapEntry | undefined => {
    const optional = isNext(p, "?");
    if (optional) p.position++;
    const key = parseTernary(p);
    if (key === undefined || take(p, ":") === undefined) return undefined;
    const value = parseTernary(p);
    return value && { key, value, optional };
  });
  return entries && { node: "map", entries, offset };
}

function isNumber({ type, value }: Token): boolean {
  if (type !== "literal" || value === undefined) return false;
  return kindOf(value) === "int" || kindOf(value) === "double";
}
