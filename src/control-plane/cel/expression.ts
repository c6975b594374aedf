import type { CelValue } from "./values.ts";

/** A parsed expression. `offset` is where cel-go reports problems of the node: at its operator. */
export type Expression =
  | LiteralExpression
  | IdentifierExpression
  | SelectExpression
  | CallExpression
  | ListExpression
  | MapExpression
  | StructExpression
  | LogicalExpression
  | FoldExpression
  | BindExpression;

interface Node {
  readonly offset: number;
}

interface LiteralExpression extends Node {
  readonly node: "literal";
  readonly value: CelValue;
}

/** A variable, of the environment or of a macro, or the name of a type. */
export interface IdentifierExpression extends Node {
  readonly node: "identifier";
  readonly name: string;
}

/** `operand.field`, `operand.?field`, or `has(operand.field)`. */
export interface SelectExpression extends Node {
  readonly node: "select";
  readonly operand: Expression;
  readonly field: string;
  readonly form: "plain" | "optional" | "presence";
}

/** A function by its name (`size`, `_+_`, `_?_:_`), of an object when there is a target. */
export interface CallExpression extends Node {
  readonly node: "call";
  readonly function: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
}

/** `[a, ?b]`; an optional item without a value is left out. */
export interface ListExpression extends Node {
  readonly node: "list";
  readonly items: ReadonlyArray<{ readonly value: Expression; readonly optional: boolean }>;
}

/** `{a: b, ?c: d}`. */
export interface MapExpression extends Node {
  readonly node: "map";
  readonly entries: ReadonlyArray<MapEntry>;
}

/** An entry of a map, left out when its value is an optional without a value. */
export interface MapEntry {
  readonly key: Expression;
  readonly value: Expression;
  readonly optional: boolean;
}

/** `Type.name{field: value, ?other: value}`. */
export interface StructExpression extends Node {
  readonly node: "struct";
  readonly typeName: string;
  readonly fields: readonly StructField[];
}

/** A field of a new object, left out when its value is an optional without a value. */
export interface StructField extends Node {
  readonly name: string;
  readonly value: Expression;
  readonly optional: boolean;
}

/** `a && b && c`, flat: a long chain is no deep tree. */
export interface LogicalExpression extends Node {
  readonly node: "logical";
  readonly operator: "&&" | "||";
  readonly terms: readonly Expression[];
}

export type FoldKind =
  | "all"
  | "exists"
  | "existsOne"
  | "map"
  | "filter"
  | "transformList"
  | "transformMap"
  | "transformMapEntry"
  | "sortBy";

/** A macro that goes over a list or map. */
export interface FoldExpression extends Node {
  readonly node: "fold";
  readonly kind: FoldKind;
  readonly range: Expression;
  /** One name for the item (of a map: the key), or two for the index and the item (of a map: key and value). */
  readonly variables: readonly string[];
  /** Which items count, for `map` with three arguments and the transformations. */
  readonly condition: Expression | undefined;
  readonly body: Expression;
}

/** `value.optMap(variable, body)`: the body is evaluated when the optional has a value. */
export interface BindExpression extends Node {
  readonly node: "bind";
  readonly value: Expression;
  readonly variable: string;
  readonly body: Expression;
  /** `optFlatMap`, whose body is an optional itself. */
  readonly flat: boolean;
}

/** A problem of an expression at a place in its text. */
export interface SourceProblem {
  readonly offset: number;
  readonly message: string;
}

const MAX_SNIPPET = 16_384;
/** Each shows its whole line: without a limit, what is told of one long line grows with the square of its length. */
const MAX_SHOWN_PROBLEMS = 100;

/** The first hundred problems as cel-go shows them, each with the line and a mark below the place. */
export function showProblems(text: string, problems: readonly SourceProblem[]): string {
  const shown = problems.slice(0, MAX_SHOWN_PROBLEMS).toSorted((a, b) => a.offset - b.offset);
  const lines = shown.map((problem) => showProblem(text, problem));
  const left = problems.length - shown.length;
  return [...lines, ...(left > 0 ? [`${left} more errors were truncated`] : [])].join("\n");
}

function showProblem(text: string, { offset, message }: SourceProblem): string {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  const passed = [...before.slice(lineStart)];
  const head = `ERROR: <input>:${line}:${passed.length + 1}: ${message}`;
  const snippet = (text.slice(lineStart).split("\n")[0] ?? "").replaceAll("\t", " ");
  if (snippet.length > MAX_SNIPPET) return head;
  const dots = passed.map((each) => (isWide(each) ? "\uff0e" : "."));
  const mark = isWide(text.slice(offset)) ? "\uff3e" : "^";
  return `${head}\n | ${snippet}\n | ${dots.join("")}${mark}`;
}

const isWide = (character: string) => (character.codePointAt(0) ?? 0) > 0x7f;
