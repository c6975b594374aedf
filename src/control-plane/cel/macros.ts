import type { Expression, FoldExpression, FoldKind, IdentifierExpression, SourceProblem } from "./expression.ts";

interface MacroCall {
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
  readonly offset: number;
}

/** How many arguments the macros of an object take; the first are variables. */
const MEMBER_MACROS: ReadonlyMap<string, readonly number[]> = new Map([
  ["all", [2, 3]],
  ["exists", [2, 3]],
  ["exists_one", [2]],
  ["existsOne", [2, 3]],
  ["map", [2, 3]],
  ["filter", [2]],
  ["transformList", [3, 4]],
  ["transformMap", [3, 4]],
  ["transformMapEntry", [3, 4]],
  ["sortBy", [2]],
  ["optMap", [2]],
  ["optFlatMap", [2]],
]);

/** True for a call that stands for something else than a function. */
export function isMacro(name: string, target: Expression | undefined, count: number): boolean {
  if (target === undefined) return name === "has" && count === 1;
  return MEMBER_MACROS.get(name)?.includes(count) ?? false;
}

/** What a macro stands for, or what is wrong with its arguments. */
export function expandMacro(macro: MacroCall): Expression | SourceProblem {
  const { name, target, args, offset } = macro;
  if (target === undefined) return expandHas(macro);
  if (name === "optMap" || name === "optFlatMap") return expandOptional(macro, target);
  const kind = foldKind(name);
  const variableCount = countVariables(name, args.length);
  const variables = args.slice(0, variableCount);
  const names = variables.flatMap((each) => (isSimple(each) ? [each.name] : []));
  const wrong = variables.find((each) => !isSimple(each));
  if (wrong) return { offset: wrong.offset, message: "argument must be a simple name" };
  if (new Set(names).size < names.length) {
    return { offset: variables[1]?.offset ?? offset, message: `duplicate iteration variable names: ${names[0]}` };
  }
  const body = args.at(-1);
  if (body === undefined || kind === undefined) return { offset, message: "invalid arguments" };
  const condition = args.length - variableCount > 1 ? args[variableCount] : undefined;
  const fold: FoldExpression = { node: "fold", kind, range: target, variables: names, condition, body, offset };
  return fold;
}

/** `exists_one` is the older name. */
function foldKind(name: string): FoldKind | undefined {
  switch (name) {
    case "exists_one":
      return "existsOne";
    case "all":
    case "exists":
    case "existsOne":
    case "map":
    case "filter":
    case "transformList":
    case "transformMap":
    case "transformMapEntry":
    case "sortBy":
      return name;
    default:
      return undefined;
  }
}

function countVariables(name: string, count: number): number {
  if (name.startsWith("transform")) return 2;
  return ["all", "exists", "existsOne"].includes(name) ? count - 1 : 1;
}

function isSimple(expression: Expression): expression is IdentifierExpression {
  return expression.node === "identifier";
}

function expandHas({ args, offset }: MacroCall): Expression | SourceProblem {
  const [operand] = args;
  if (operand?.node === "select" && operand.form === "plain") return { ...operand, form: "presence", offset };
  return { offset: operand?.offset ?? offset, message: "invalid argument to has() macro" };
}

function expandOptional({ name, args, offset }: MacroCall, value: Expression): Expression | SourceProblem {
  const [variable, body] = args;
  if (variable === undefined || body === undefined || !isSimple(variable)) {
    return { offset: variable?.offset ?? offset, message: `${name}() variable name must be a simple identifier` };
  }
  return { node: "bind", value, variable: variable.name, body, flat: name === "optFlatMap", offset };
}
