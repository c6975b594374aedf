import { isRecord } from "../../api/object.ts";

/**
 * The part of kubectl's JSONPath that columns, scales and selectable fields use: names (`.spec.x`, `['a.b']`, `.a\.b`),
 * indexes and slices (`[0]`, `[-1]`, `[1:3]`), everything (`[*]`, `.*`), descent (`..x`) and filters
 * (`[?(@.type=="Ready")]`). No ranges, no functions.
 */
export type JsonPath = readonly Step[];

type Step =
  | { readonly kind: "names"; readonly names: readonly string[] }
  | { readonly kind: "all" }
  | { readonly kind: "descend" }
  | { readonly kind: "index"; readonly index: number }
  | {
      readonly kind: "slice";
      readonly from: number | undefined;
      readonly to: number | undefined;
      readonly step: number;
    }
  | { readonly kind: "filter"; readonly left: Operand; readonly operator: string; readonly right: Operand };

type Operand =
  | { readonly kind: "literal"; readonly value: string | number | boolean }
  | { readonly kind: "path"; readonly path: JsonPath };

/** No path that a person writes is as long. Without a limit, brackets in brackets use up the stack. */
const MAX_TEXT_LENGTH = 1_000;

/** Undefined for text that is no path, that uses more of the language, or that is longer than a thousand characters. */
export function parseJsonPath(text: string): JsonPath | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  const steps: Step[] = [];
  let rest = text.replace(/^\$/, "");
  while (rest !== "" && rest !== ".") {
    const [step, length] = readStep(rest) ?? [undefined, 0];
    if (!step) return undefined;
    steps.push(step);
    rest = rest.slice(length);
  }
  return steps;
}

function readStep(text: string): readonly [Step, number] | undefined {
  if (text.startsWith("[")) return readBrackets(text);
  if (text.startsWith("..")) return [{ kind: "descend" }, text[2] === "[" ? 2 : 1];
  // kubectl takes `.[0]` for `[0]`.
  if (text.startsWith(".[")) {
    const [step, length] = readBrackets(text.slice(1)) ?? [undefined, 0];
    return step && [step, length + 1];
  }
  if (text.startsWith(".*")) return [{ kind: "all" }, 2];
  const [whole, name = ""] = /^\.?((?:\\.|[^.[\]\\\s{}()])+)/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  return [{ kind: "names", names: [name.replaceAll(/\\(.)/g, "$1")] }, whole.length];
}

const NAME_LIST = /^\s*(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")(?:\s*,\s*(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))*\s*$/;

function readBrackets(text: string): readonly [Step, number] | undefined {
  const end = closingBracket(text);
  if (end === -1) return undefined;
  const step = readSubscript(text.slice(1, end));
  return step && [step, end + 1];
}

function readSubscript(inner: string): Step | undefined {
  const text = inner.trim();
  if (text === "*") return { kind: "all" };
  if (/^-?\d+$/.test(text)) return { kind: "index", index: Number(text) };
  if (text.startsWith("?")) return readFilter(text);
  if (NAME_LIST.test(text)) {
    const quoted = text.match(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/g) ?? [];
    return { kind: "names", names: quoted.map((name) => name.slice(1, -1).replaceAll(/\\(.)/g, "$1")) };
  }
  const slice = /^(-?\d*):(-?\d*)(?::(\d+))?$/.exec(text);
  if (!slice) return undefined;
  const [from, to] = [slice[1], slice[2]].map((part) => (part ? Number(part) : undefined));
  return { kind: "slice", from, to, step: Math.max(1, Number(slice[3] ?? 1)) };
}

/** The end of the subscript that starts the text; -1 when there is none. Quoted brackets do not count. */
function closingBracket(text: string): number {
  let depth = 0;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\\") at++;
    else if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (character === "[") depth++;
    else if (character === "]" && --depth === 0) return at;
  }
  return -1;
}

function readFilter(text: string): Step | undefined {
  const [, condition = ""] = /^\?\s*\((.*)\)$/s.exec(text) ?? [];
  const [, left = "", operator = "exists", right = ""] =
    /^((?:'[^']*'|"[^"]*"|[^=!<>'"])+?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+))?$/s.exec(condition.trim()) ?? [];
  const [first, second] = [readOperand(left), operator === "exists" ? NO_OPERAND : readOperand(right)];
  return first && second && { kind: "filter", left: first, operator, right: second };
}

const NO_OPERAND: Operand = { kind: "literal", value: true };

function readOperand(text: string): Operand | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith("@")) {
    const path = parseJsonPath(trimmed.slice(1));
    return path && { kind: "path", path };
  }
  const [, quoted] = /^(?:'([^']*)'|"([^"]*)")$/.exec(trimmed.replace(/^"([^"]*)"$/, "'$1'")) ?? [];
  if (quoted !== undefined) return { kind: "literal", value: quoted };
  if (trimmed === "true" || trimmed === "false") return { kind: "literal", value: trimmed === "true" };
  return /^-?\d+(\.\d+)?$/.test(trimmed) ? { kind: "literal", value: Number(trimmed) } : undefined;
}

/** The values that one evaluation may still look at. */
interface Budget {
  left: number;
}

/**
 * A path that looks at more values leads to none: few dots reach each value in very many ways (`........x`). It is more
 * than a path of a column meets in all but the largest objects.
 */
const MAX_VALUES = 50_000;

/** The values that the path leads to, in order. A missing field leads to none. */
export function evaluateJsonPath(path: JsonPath, value: unknown): unknown[] {
  return evaluate(path, value, { left: MAX_VALUES });
}

function evaluate(path: JsonPath, value: unknown, budget: Budget): unknown[] {
  let found = [value];
  for (const step of path) {
    budget.left -= found.length;
    if (budget.left <= 0) return [];
    found = found.flatMap((item) => follow(step, item, budget));
  }
  return found;
}

function follow(step: Step, value: unknown, budget: Budget): unknown[] {
  switch (step.kind) {
    case "names":
      return isRecord(value) ? step.names.filter((name) => Object.hasOwn(value, name)).map((name) => value[name]) : [];
    case "all":
      return childrenOf(value);
    case "descend":
      return [value, ...nestedIn(value, budget)];
    case "index":
      return Array.isArray(value) ? value.slice(step.index, step.index === -1 ? undefined : step.index + 1) : [];
    case "slice": {
      const part: unknown[] = Array.isArray(value) ? value.slice(step.from, step.to) : [];
      return part.filter((_, index) => index % step.step === 0);
    }
    case "filter":
      return childrenOf(value).filter((item) => holds(step, item, budget));
  }
}

/** All lists and objects in the value, each before those that it holds. */
function nestedIn(value: unknown, budget: Budget): unknown[] {
  const found: unknown[] = [];
  const waiting = childrenOf(value).filter(isNested).toReversed();
  for (let next = waiting.pop(); next !== undefined && budget.left-- > 0; next = waiting.pop()) {
    found.push(next);
    for (const child of childrenOf(next).filter(isNested).toReversed()) waiting.push(child);
  }
  return found;
}

const isNested = (value: unknown) => typeof value === "object" && value !== null;

function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

function holds({ left, operator, right }: Extract<Step, { kind: "filter" }>, item: unknown, budget: Budget): boolean {
  const first = operandValue(left, item, budget);
  if (operator === "exists") return first !== undefined;
  return compare(operator, first, operandValue(right, item, budget));
}

function operandValue(operand: Operand, item: unknown, budget: Budget): unknown {
  return operand.kind === "literal" ? operand.value : evaluate(operand.path, item, budget)[0];
}

function compare(operator: string, left: unknown, right: unknown): boolean {
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  const [a, b] = [left, right];
  const isOrdered =
    (typeof a === "number" && typeof b === "number") || (typeof a === "string" && typeof b === "string");
  if (!isOrdered) return false;
  if (operator === "<") return a < b;
  if (operator === ">") return a > b;
  return operator === "<=" ? a <= b : a >= b;
}
