import { compilePattern, isCompiled } from "../../../api/go-pattern.ts";
import type { CostBudget } from "../budget.ts";
import {
  intArg,
  matching,
  member,
  type Overload,
  objectArg,
  plain,
  sizeOf,
  stringArg,
  traversal,
  twoTraversals,
} from "../overload.ts";
import * as types from "../types.ts";
import { type CelValue, celList, failure, isFailure, itemsOfList } from "../values.ts";
import { formatText } from "./format-text.ts";

const { BOOL, INT, STRING } = types;
const STRINGS = types.listType(STRING);

const containsCost = (args: readonly CelValue[]) => traversal(args) * Math.ceil(sizeOf(args[1]) * 0.1);

const TESTS = [
  member("startsWith", [[STRING, STRING], BOOL], ([a, b]) => stringArg(a).startsWith(stringArg(b)), traversal),
  member("endsWith", [[STRING, STRING], BOOL], ([a, b]) => stringArg(a).endsWith(stringArg(b)), traversal),
  member("contains", [[STRING, STRING], BOOL], ([a, b]) => stringArg(a).includes(stringArg(b)), containsCost),
];

/** Positions count characters, and not UTF-16's units. */
const charactersOf = (text: string) => (/[\ud800-\udfff]/.test(text) ? [...text] : text.split(""));

function slice(text: string, from: bigint, to: bigint | undefined): CelValue {
  const characters = charactersOf(text);
  const end = to ?? BigInt(characters.length);
  if (from < 0n || from > characters.length) return failure(`index out of range: ${from}`);
  if (end < 0n || end > characters.length) return failure(`index out of range: ${end}`);
  if (from > end) return failure(`invalid substring range. start: ${from}, end: ${end}`);
  return characters.slice(Number(from), Number(end)).join("");
}

function charAt(text: string, index: bigint): CelValue {
  const characters = charactersOf(text);
  if (index < 0n || index > characters.length) return failure(`index out of range: ${index}`);
  return characters[Number(index)] ?? "";
}

function position(text: string, part: string, from: bigint | undefined): CelValue {
  const start = from ?? 0n;
  if (part === "") return start;
  const characters = charactersOf(text);
  if (start < 0n || start > characters.length) return failure(`index out of range: ${start}`);
  const skipped = characters.slice(0, Number(start)).join("").length;
  const found = text.indexOf(part, skipped);
  return found === -1 ? -1n : BigInt(charactersOf(text.slice(0, found)).length);
}

function lastPosition(text: string, part: string, from: bigint | undefined): CelValue {
  const characters = charactersOf(text);
  if (from !== undefined && (from < 0n || from > characters.length)) return failure(`index out of range: ${from}`);
  if (part === "") return from ?? BigInt(characters.length);
  const limit = from === undefined ? text.length : characters.slice(0, Number(from)).join("").length;
  const found = text.lastIndexOf(part, limit);
  return found === -1 ? -1n : BigInt(charactersOf(text.slice(0, found)).length);
}

const optionalInt = (value: CelValue | undefined) => (value === undefined ? undefined : intArg(value));

const PARTS = [
  member("charAt", [[STRING, INT], STRING], ([a, at]) => charAt(stringArg(a), intArg(at))),
  ...[
    [STRING, STRING],
    [STRING, STRING, INT],
  ].flatMap((args) => [
    member(
      "indexOf",
      [args, INT],
      ([a, b, from]) => position(stringArg(a), stringArg(b), optionalInt(from)),
      traversal,
    ),
    member(
      "lastIndexOf",
      [args, INT],
      ([a, b, from]) => lastPosition(stringArg(a), stringArg(b), optionalInt(from)),
      traversal,
    ),
  ]),
  ...[
    [STRING, INT],
    [STRING, INT, INT],
  ].map((args) =>
    member(
      "substring",
      [args, STRING],
      ([a, from, to]) => slice(stringArg(a), intArg(from), optionalInt(to)),
      traversal,
    ),
  ),
];

/** The white space of Unicode that Go's `unicode.IsSpace` knows. */
const SPACE = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const LEADING = new RegExp(`^${SPACE}+`);

function trim(text: string): string {
  let end = text.length;
  while (end > 0 && LEADING.test(text.charAt(end - 1))) end--;
  return text.slice(0, end).replace(LEADING, "");
}

const CASES = [
  member(
    "lowerAscii",
    [[STRING], STRING],
    ([a]) => stringArg(a).replace(/[A-Z]+/g, (part) => part.toLowerCase()),
    traversal,
  ),
  member(
    "upperAscii",
    [[STRING], STRING],
    ([a]) => stringArg(a).replace(/[a-z]+/g, (part) => part.toUpperCase()),
    traversal,
  ),
  member("trim", [[STRING], STRING], ([a]) => trim(stringArg(a)), traversal),
  member("reverse", [[STRING], STRING], ([a]) => charactersOf(stringArg(a)).toReversed().join(""), traversal),
  plain("strings.quote", [[STRING], STRING], ([a]) => quote(stringArg(a)), traversal),
];

const CONTROLS: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

function quote(text: string): string {
  return `"${text.replaceAll(/./gsu, (each) => CONTROLS[each] ?? each)}"`;
}

/** The longest string that an expression may build. */
const MAX_BUILT = 10_000_000;

function replace(args: readonly CelValue[], budget: CostBudget): CelValue {
  const [text, old, next] = [stringArg(args[0]), stringArg(args[1]), stringArg(args[2])];
  const limit = optionalInt(args[3]) ?? -1n;
  const pieces = old === "" ? ["", ...charactersOf(text)] : text.split(old);
  // An empty text to replace stands before each character and at the end.
  const separators = old === "" ? pieces.length : pieces.length - 1;
  const count = limit < 0n ? separators : Math.min(separators, Number(limit));
  const size = text.length + count * next.length;
  if (size > MAX_BUILT) return failure("the string is too long");
  budget.work(size / 20);
  if (old !== "") return joinReplaced(pieces, { old, next, count });
  const characters = charactersOf(text);
  const built = characters.map((each, index) => (index < count ? next : "") + each).join("");
  return count > characters.length ? built + next : built;
}

function joinReplaced(pieces: readonly string[], { old, next, count }: { old: string; next: string; count: number }) {
  return (
    pieces.slice(0, count + 1).join(next) +
    pieces
      .slice(count + 1)
      .map((piece) => old + piece)
      .join("")
  );
}

function split(args: readonly CelValue[], budget: CostBudget): CelValue {
  const [text, separator] = [stringArg(args[0]), stringArg(args[1])];
  const limit = optionalInt(args[2]) ?? -1n;
  if (limit === 0n) return celList([]);
  const pieces = separator === "" ? charactersOf(text) : text.split(separator);
  budget.work(pieces.length);
  if (limit < 0n || pieces.length <= limit) return celList(pieces);
  const kept = pieces.slice(0, Number(limit) - 1);
  return celList([...kept, pieces.slice(kept.length).join(separator)]);
}

function join(args: readonly CelValue[], budget: CostBudget): CelValue {
  const list = objectArg("list", args[0]);
  budget.work(list.size);
  const items = itemsOfList(list);
  const separator = args[1] === undefined ? "" : stringArg(args[1]);
  const size = items.reduce<number>((sum, item) => sum + sizeOf(item) + separator.length, 0);
  budget.charge(Math.ceil(size * 0.2));
  if (size > MAX_BUILT) return failure("the string is too long");
  if (items.some((item) => typeof item !== "string")) return failure("no such overload");
  return items.join(separator);
}

const BUILDERS = [
  member("replace", [[STRING, STRING, STRING], STRING], replace, twoTraversals),
  member("replace", [[STRING, STRING, STRING, INT], STRING], replace, twoTraversals),
  member("split", [[STRING, STRING], STRINGS], split, twoTraversals),
  member("split", [[STRING, STRING, INT], STRINGS], split, twoTraversals),
  member("join", [[STRINGS], STRING], join, () => 0),
  member("join", [[STRINGS, STRING], STRING], join, () => 0),
  member(
    "format",
    [[STRING, types.listType(types.DYN)], STRING],
    ([text, list], budget) => {
      return formatText(stringArg(text), objectArg("list", list), budget);
    },
    traversal,
  ),
];

/** What compiling a pattern costs that was not compiled before: the time of so many steps a character. */
const STEPS_A_CHARACTER = 100;

/** The parts of the text that the pattern matches. */
function findParts(text: string, pattern: string, limit: number, budget: CostBudget): string[] | CelValue {
  if (!isCompiled(pattern)) budget.work(2_000 + pattern.length * STEPS_A_CHARACTER);
  budget.work(text.length * Math.max(1, pattern.length / 4));
  const compiled = compilePattern(pattern);
  if ("problem" in compiled) return failure(compiled.problem);
  return compiled.findAll(text, limit);
}

function matches(text: string, pattern: string, budget: CostBudget): CelValue {
  const found = findParts(text, pattern, 1, budget);
  return Array.isArray(found) ? found.length > 0 : found;
}

function findAll(args: readonly CelValue[], budget: CostBudget): CelValue {
  const limit = optionalInt(args[2]) ?? -1n;
  const most = limit < 0n ? Number.MAX_SAFE_INTEGER : Number(limit);
  const found = findParts(stringArg(args[0]), stringArg(args[1]), most, budget);
  return Array.isArray(found) ? celList(found) : found;
}

const PATTERNS = [
  member(
    "matches",
    [[STRING, STRING], BOOL],
    ([a, b], budget) => matches(stringArg(a), stringArg(b), budget),
    matching,
  ),
  plain("matches", [[STRING, STRING], BOOL], ([a, b], budget) => matches(stringArg(a), stringArg(b), budget), matching),
  member(
    "find",
    [[STRING, STRING], STRING],
    ([a, b], budget) => {
      const found = findParts(stringArg(a), stringArg(b), 1, budget);
      if (Array.isArray(found)) return found[0] ?? "";
      return isFailure(found) ? found : "";
    },
    matching,
  ),
  member("findAll", [[STRING, STRING], STRINGS], findAll, matching),
  member("findAll", [[STRING, STRING, INT], STRINGS], findAll, matching),
];

/** What strings can do: CEL's own functions, the strings extension of cel-go (version 2), Kubernetes' find. */
export const STRING_FUNCTIONS: readonly Overload[] = [...TESTS, ...PARTS, ...CASES, ...BUILDERS, ...PATTERNS];
