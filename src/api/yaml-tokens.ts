import { Composer, type CST, type Document, Lexer, type LineCounter, Parser } from "yaml";
import { assert } from "../base/assert.ts";

/** How much YAML is read; text beyond a limit is refused before the values of it are built. */
export interface YamlLimits {
  /** The lines of the text: a scalar may have many, and each is folded by itself. */
  readonly maxLines: number;
  /** Scalars, indicators, tags, anchors and aliases. Spaces, line breaks and comments do not count. */
  readonly maxTokens: number;
  /** The characters that aliases repeat. */
  readonly maxRepeated: number;
}

/** Ends the reading of a text or of one document; its message is complete. */
export class YamlError extends Error {}

/**
 * Nesting beyond this is no manifest. The parser and every reader after it recurse, and a stack that overflows while
 * V8 compiles a regular expression ends the process.
 */
export const MAX_YAML_DEPTH = 200;
/** The parser's stack has a few entries besides the collections that are open. */
const STACK_SPARE = 4;
/** Problems beyond this end the reading: the library makes an error, with its stack, of each. */
const MAX_REPORTS = 1_000;
/** So many tokens are read between two pauses. */
const TOKENS_PER_STEP = 1_000;
/** Spaces, comments, line breaks, and the lexer's own marks before documents and plain scalars. */
const UNCOUNTED = new Set([" ", "\t", "#", "\n", "\r", "\u0002", "\u001f"]);

/** A message with its place in the text. */
export function describeYamlError(message: string, offset: number, lines: LineCounter): string {
  const { line, col } = lines.linePos(offset);
  return `line ${line}, column ${col}: ${message.startsWith("Maximum call stack") ? "nested too deeply" : message}`;
}

/**
 * Reads the documents of a text. It yields after some milliseconds of work each, where the caller may let others run.
 * The nodes of one document are composed at one go, and `maxTokens` bounds what that takes. Throws a YamlError for a
 * text beyond the limits.
 */
export function* composeYaml(
  text: string,
  limits: YamlLimits,
  lines: LineCounter,
): Generator<void, readonly Document.Parsed[]> {
  if (hasMoreLines(text, limits.maxLines)) throw tooMuch(limits.maxLines, "lines");
  const parser = new Parser(lines.addNewLine);
  const composer = createBoundedComposer();
  const documents: Document.Parsed[] = [];
  const compose = (token: CST.Token) => documents.push(...composer.next(token));
  let count = 0;
  let tokens = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    if (isSignificant(lexeme) && ++tokens > limits.maxTokens) throw tooMuch(limits.maxTokens, "tokens");
    for (const token of parser.next(lexeme)) compose(token);
    if (parser.stack.length > MAX_YAML_DEPTH + STACK_SPARE) {
      const message = `nested more than ${MAX_YAML_DEPTH} levels deep`;
      throw new YamlError(describeYamlError(message, parser.offset, lines));
    }
    if (++count % TOKENS_PER_STEP === 0) yield;
  }
  yield;
  for (const token of parser.end()) compose(token);
  documents.push(...composer.end());
  return documents;
}

const tooMuch = (limit: number, what: string) => new YamlError(`more than ${limit} ${what} of YAML are not read`);

function hasMoreLines(text: string, most: number): boolean {
  let lines = 1;
  for (let place = text.indexOf("\n"); place >= 0 && lines <= most; place = text.indexOf("\n", place + 1)) lines++;
  return lines > most;
}

function isSignificant(lexeme: string): boolean {
  const first = lexeme[0];
  return !(first === undefined || UNCOUNTED.has(first));
}

interface BoundedComposer {
  next(token: CST.Token): Iterable<Document.Parsed>;
  end(): Iterable<Document.Parsed>;
}

/**
 * Composes with Kubernetes' rules, and gives up where a text has more problems than anybody reads. Every plain scalar
 * arrives as text (failsafe): `resolvePlainScalar` alone decides what it means.
 */
function createBoundedComposer(): BoundedComposer {
  const options = { version: "1.1", schema: "failsafe", uniqueKeys: false, prettyErrors: false } as const;
  const composer: Composer = new Composer({ ...options, logLevel: "silent" });
  let reports = 0;
  const count = () => {
    if (++reports > MAX_REPORTS) throw new YamlError(`more than ${MAX_REPORTS} errors and warnings`);
  };
  const report: unknown = Reflect.get(composer, "onError");
  assert(typeof report === "function", "the composer of yaml reports by its onError");
  const onError = (...reported: readonly unknown[]) => {
    count();
    Reflect.apply(report, composer, reported);
  };
  Object.assign(composer, { onError });
  return {
    next(token) {
      if (token.type === "error") count();
      return composer.next(token);
    },
    end: () => composer.end(),
  };
}
