import { badRequestError } from "../api-error.ts";
import { checkQualifiedName } from "../validation/names.ts";

/** The operators have upstream's spelling (`selection.Operator`); `!` is "does not exist". */
export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

/** A condition on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Empty for `exists` and `!`. Sorted and each once, where they are written as text. */
  readonly values: readonly string[];
}

/** `end` has an empty text. `in` and `notin` are words like any other where no operator can stand. */
interface Token {
  readonly kind: "end" | "word" | "symbol";
  readonly text: string;
}

/** Ends the parsing of one requirement; its message is upstream's. */
class SyntaxProblem extends Error {}

/**
 * Reads `a=b, c in (d, e), !f`. Throws BadRequest, in upstream's words, for a text outside the grammar and for a
 * requirement that `check` refuses.
 */
export function parseRequirements(
  text: string,
  check: (requirement: LabelRequirement) => string | undefined,
): LabelRequirement[] {
  const tokens = createTokenReader(text);
  const requirements: LabelRequirement[] = [];
  while (tokens.peek().kind !== "end") {
    if (!startsRequirement(tokens.peek())) {
      throw badRequestError(`found '${tokens.peek().text}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(readRequirement(tokens, check));
    const separator = tokens.take();
    if (separator.kind === "end") break;
    if (separator.text !== ",") {
      throw badRequestError(`found '${separator.text}', expected: ',' or 'end of string'`);
    }
    if (!startsRequirement(tokens.peek())) {
      throw badRequestError(`found '${tokens.peek().text}', expected: identifier after ','`);
    }
  }
  return requirements;
}

function startsRequirement({ kind, text }: Token): boolean {
  return kind === "word" || text === "!";
}

interface TokenReader {
  peek(): Token;
  take(): Token;
}

const TOKEN = /(==|!=|[=!(),<>])|[^ \t\r\n=!(),<>]+/g;
const END: Token = { kind: "end", text: "" };

function createTokenReader(text: string): TokenReader {
  const tokens = Array.from(text.matchAll(TOKEN), ([token, symbol]): Token => {
    return { kind: symbol === undefined ? "word" : "symbol", text: token };
  });
  let position = 0;
  return {
    peek: () => tokens[position] ?? END,
    take: () => tokens[position++] ?? END,
  };
}

function readRequirement(
  tokens: TokenReader,
  check: (requirement: LabelRequirement) => string | undefined,
): LabelRequirement {
  try {
    const requirement = readParts(tokens);
    const problem = check(requirement);
    if (problem !== undefined) throw new SyntaxProblem(problem);
    return requirement;
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    throw badRequestError(`unable to parse requirement: ${error.message}`);
  }
}

function readParts(tokens: TokenReader): LabelRequirement {
  const isNegated = tokens.peek().text === "!";
  if (isNegated) tokens.take();
  const key = readKey(tokens);
  if (isNegated) return { key, operator: "!", values: [] };
  const next = tokens.peek();
  if (next.kind === "end" || next.text === ",") return { key, operator: "exists", values: [] };
  const operator = readOperator(tokens);
  const isSet = operator === "in" || operator === "notin";
  return { key, operator, values: isSet ? readValues(tokens) : [readExactValue(tokens)] };
}

function readKey(tokens: TokenReader): string {
  const { kind, text } = tokens.take();
  if (kind !== "word") throw new SyntaxProblem(`found '${text}', expected: identifier`);
  const problems = checkQualifiedName(text);
  if (problems.length === 0) return text;
  // The field's path is not known here; upstream prints it as `<nil>` too.
  throw new SyntaxProblem(`<nil>: Invalid value: ${JSON.stringify(text)}: ${problems.join("; ")}`);
}

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "="],
  ["==", "=="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);

function readOperator(tokens: TokenReader): LabelOperator {
  const { text } = tokens.take();
  const operator = OPERATORS.get(text);
  if (operator === undefined) throw new SyntaxProblem(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
  return operator;
}

/** If a comma or the end comes next, the value is empty. */
function readExactValue(tokens: TokenReader): string {
  const next = tokens.peek();
  if (next.kind === "end" || next.text === ",") return "";
  const { kind, text } = tokens.take();
  if (kind !== "word") throw new SyntaxProblem(`found '${text}', expected: identifier`);
  return text;
}

/** Reads `(a, b)`. A place without text between commas or parentheses is the empty value. */
function readValues(tokens: TokenReader): string[] {
  const open = tokens.take();
  if (open.text !== "(") throw new SyntaxProblem(`found '${open.text}' expected: '('`);
  const values = new Set<string>();
  for (let expected = "',', ')' or identifier"; ; expected = "',', or identifier") {
    const next = tokens.peek();
    const isEmpty = next.text === "," || next.text === ")";
    if (next.kind !== "word" && !isEmpty) throw new SyntaxProblem(`found '${next.text}', expected: ${expected}`);
    values.add(isEmpty ? "" : tokens.take().text);
    const { text } = tokens.take();
    if (text === ")") return [...values].sort();
    if (text !== ",") throw new SyntaxProblem(`found '${text}', expected: ',' or ')'`);
  }
}
