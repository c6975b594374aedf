import { BudgetExceededError, createCostBudget } from "./budget.ts";
import { type Checked, checkExpression, type Environment } from "./check.ts";
import { estimateCost } from "./estimate/estimate-cost.ts";
import type { DeclaredSize } from "./estimate/sizes.ts";
import { type Expression, showProblems } from "./expression.ts";
import { ADDRESS_FUNCTIONS, CIDR, IP } from "./functions/addresses.ts";
import { AUTHORIZATION_FUNCTIONS } from "./functions/authorization.ts";
import { CONVERSIONS } from "./functions/conversions.ts";
import { FORMAT, FORMAT_FUNCTIONS } from "./functions/formats.ts";
import { KUBERNETES_FUNCTIONS, QUANTITY, SEMVER, URL_TYPE } from "./functions/kubernetes.ts";
import { LIST_FUNCTIONS } from "./functions/lists.ts";
import { OPERATORS } from "./functions/operators.ts";
import { STRING_FUNCTIONS } from "./functions/strings.ts";
import type { Overload } from "./overload.ts";
import { parseExpression } from "./parse.ts";
import { planExpression } from "./plan.ts";
import type { CelType } from "./types.ts";
import * as types from "./types.ts";
import type { CelValue } from "./values.ts";
import { isFailure } from "./values.ts";

/** A compiled expression. It keeps no state: the same program may be evaluated again and again. */
export interface Program {
  readonly text: string;
  readonly type: CelType;
  /** The variables that the expression reads. */
  readonly variables: ReadonlySet<string>;
  /** Evaluates it. `limit` is the cost that it may have; default and most: 1,000,000. */
  evaluate(readVariable: (name: string) => CelValue | undefined, limit?: number): Evaluation;
}

/** How an evaluation ended, and its cost. */
export type Evaluation =
  | { readonly outcome: "value"; readonly value: CelValue; readonly cost: number }
  /** In cel-go's words. */
  | { readonly outcome: "failure"; readonly message: string; readonly cost: number }
  /** It would have cost more than it may, and was ended. */
  | { readonly outcome: "exceeded"; readonly message: string; readonly cost: number };

const FUNCTIONS: ReadonlyMap<string, readonly Overload[]> = byName([
  ...OPERATORS,
  ...CONVERSIONS,
  ...STRING_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...ADDRESS_FUNCTIONS,
  ...KUBERNETES_FUNCTIONS,
  ...FORMAT_FUNCTIONS,
  ...AUTHORIZATION_FUNCTIONS,
]);

function byName(overloads: readonly Overload[]): ReadonlyMap<string, readonly Overload[]> {
  const functions = new Map<string, Overload[]>();
  for (const overload of overloads) {
    const same = functions.get(overload.name);
    if (same) same.push(overload);
    else functions.set(overload.name, [overload]);
  }
  return functions;
}

const TYPE_NAMES: ReadonlyMap<string, CelType> = new Map([
  ["int", types.INT],
  ["uint", types.UINT],
  ["double", types.DOUBLE],
  ["bool", types.BOOL],
  ["string", types.STRING],
  ["bytes", types.BYTES],
  ["list", types.listType(types.DYN)],
  ["map", types.mapType(types.DYN, types.DYN)],
  ["null_type", types.NULL],
  ["type", types.TYPE],
  ["optional_type", types.optionalType(types.DYN)],
  ["google.protobuf.Timestamp", types.TIMESTAMP],
  ["google.protobuf.Duration", types.DURATION],
  ["net.IP", IP],
  ["net.CIDR", CIDR],
  ["kubernetes.Quantity", QUANTITY],
  ["kubernetes.URL", URL_TYPE],
  ["kubernetes.Semver", SEMVER],
  ["kubernetes.NamedFormat", FORMAT],
]);

/** Types and functions that the expressions of one purpose have beside those that all have. */
export interface Vocabulary {
  findType(name: string): CelType | undefined;
  readonly functions: readonly Overload[];
}

const NOTHING_MORE: Vocabulary = { findType: () => undefined, functions: [] };

/** Compiles an expression that may read the variables, or says in cel-go's words why it cannot be. */
export function compileExpression(
  text: string,
  variables: ReadonlyMap<string, CelType>,
  vocabulary: Vocabulary = NOTHING_MORE,
): Program | { readonly problem: string } {
  const found = checkText(text, variables, vocabulary);
  if ("problem" in found) return found;
  const { expression, checked, findType } = found;
  const step = planExpression(expression, checked, (name) =>
    findType(name) === undefined ? undefined : { kind: "type", name },
  );
  const read = new Set([...checked.variables.values()].filter((name) => variables.has(name)));
  return {
    text,
    type: checked.type,
    variables: read,
    evaluate(readVariable, limit) {
      const budget = createCostBudget(limit);
      try {
        const value = step({ budget, readVariable, locals: [] });
        const cost = budget.spent();
        if (isFailure(value)) return { outcome: "failure", message: value.message, cost };
        return { outcome: "value", value, cost };
      } catch (error) {
        if (!(error instanceof BudgetExceededError)) throw error;
        return { outcome: "exceeded", message: error.message, cost: budget.spent() };
      }
    },
  };
}

/**
 * The most that an evaluation of the expression costs, where its variables are of the declared size; Infinity where
 * nothing bounds it. Undefined for an expression that does not compile.
 */
export function estimateExpression(
  text: string,
  variables: ReadonlyMap<string, CelType>,
  declared: DeclaredSize,
): number | undefined {
  const found = checkText(text, variables, NOTHING_MORE);
  return "problem" in found ? undefined : estimateCost(found.expression, found.checked, declared);
}

interface CheckedText {
  readonly expression: Expression;
  readonly checked: Checked;
  readonly findType: Environment["findType"];
}

function checkText(
  text: string,
  variables: ReadonlyMap<string, CelType>,
  vocabulary: Vocabulary,
): CheckedText | { readonly problem: string } {
  const parsed = parseExpression(text);
  if ("problems" in parsed) return { problem: showProblems(text, parsed.problems) };
  const { expression } = parsed;
  const findType = (name: string) => TYPE_NAMES.get(name) ?? vocabulary.findType(name);
  const functions = new Map([...FUNCTIONS, ...byName(vocabulary.functions)]);
  const environment: Environment = { variables, functions, findType };
  const checked = checkExpression(expression, environment);
  if ("problems" in checked) return { problem: showProblems(text, checked.problems) };
  return { expression, checked, findType };
}
