import type { Checked } from "../check.ts";
import type {
  BindExpression,
  CallExpression,
  Expression,
  FoldExpression,
  ListExpression,
  MapExpression,
  SelectExpression,
} from "../expression.ts";
import * as types from "../types.ts";
import { type CallArgument, estimateCall } from "./call-costs.ts";
import { foldCosts, LIST_COST, MAP_COST } from "./fold-costs.ts";
import {
  below,
  copySizes,
  type Estimator,
  entriesOf,
  inferredType,
  isScalar,
  type Local,
  setEntries,
  sizeRangeOf,
  unionEntries,
  unionOf,
} from "./known-sizes.ts";
import { type DeclaredSize, fixed, type SizeRange, spanning, times, UNKNOWN } from "./sizes.ts";

/**
 * The most that an evaluation costs, as cel-go estimates it for variables of the declared sizes (`checker/cost.go`).
 * Infinity where a size is not bounded.
 */
export function estimateCost(expression: Expression, checked: Checked, declared: DeclaredSize): number {
  const estimator: Estimator = {
    checked,
    root: { declared },
    locals: new Map(),
    places: new Map(),
    sizes: new Map(),
    entries: new Map(),
  };
  return costOf(estimator, expression);
}

const STRUCT_COST = 40;

function costOf(estimator: Estimator, expression: Expression): number {
  if (estimator.checked.variables.has(expression)) {
    estimator.places.set(expression, estimator.root);
    return 1;
  }
  switch (expression.node) {
    case "literal":
      return 0;
    case "identifier": {
      const place = estimator.locals.get(expression.name)?.place;
      if (place !== undefined) estimator.places.set(expression, place);
      return 1;
    }
    case "select":
      return costOfSelect(estimator, expression);
    case "call":
      return costOfCall(estimator, expression);
    case "list":
      return costOfList(estimator, expression);
    case "map":
      return costOfMap(estimator, expression);
    case "struct":
      return STRUCT_COST + total(expression.fields.map(({ value }) => costOf(estimator, value)));
    case "logical":
      return total(expression.terms.map((term) => costOf(estimator, term)));
    case "fold":
      return costOfFold(estimator, expression);
    case "bind":
      return costOfBind(estimator, expression);
  }
}

const total = (costs: readonly number[]) => costs.reduce((sum, cost) => sum + cost, 0);

function costOfSelect(estimator: Estimator, select: SelectExpression): number {
  const { operand, field, form } = select;
  const cost = costOf(estimator, operand);
  if (form === "presence") return cost;
  if (form === "optional") return cost + 1;
  estimator.places.set(
    select,
    below(estimator, operand, (declared) => declared.fields?.get(field)),
  );
  const { kind } = inferredType(estimator, operand);
  return cost + (kind === "map" || kind === "object" || kind === "param" ? 1 : 0);
}

function costOfCall(estimator: Estimator, call: CallExpression): number {
  const overloads = estimator.checked.overloads.get(call) ?? [];
  const [first] = overloads;
  const values = [...(first?.member && call.target ? [call.target] : []), ...call.args];
  const costs = values.map((value) => costOf(estimator, value));
  const [subject, second, third] = values;
  if (call.function === "dyn" && subject) {
    copySizes(estimator, call, subject);
    return 1 + total(costs);
  }
  if (call.function === "_?_:_" && second && third) {
    estimator.sizes.set(call, spanning(sizeRangeOf(estimator, second), sizeRangeOf(estimator, third)));
    setEntries(estimator, call, unionEntries(entriesOf(estimator, second), entriesOf(estimator, third)));
    const [condition = 0, yes = 0, no = 0] = costs;
    return condition + Math.max(yes, no);
  }
  const args = values.map((value) => argumentOf(estimator, value));
  const estimates = overloads.map((overload) => estimateCall(overload, args));
  const known = estimates.flatMap(({ size }) => (size === undefined ? [] : [size]));
  const size = known.length === 0 ? undefined : known.reduce(spanning);
  if (size !== undefined) estimator.sizes.set(call, size);
  if (call.function === "_[_]" && subject) {
    estimator.places.set(
      call,
      below(estimator, subject, ({ items }) => items),
    );
    const item = entriesOf(estimator, subject)?.value;
    if (item !== undefined) estimator.sizes.set(call, item);
  }
  if (call.function === "_+_" && subject && second) {
    setEntries(estimator, call, unionEntries(entriesOf(estimator, subject), entriesOf(estimator, second)));
  }
  return total(costs) + Math.max(0, ...estimates.map(({ cost }) => cost));
}

function argumentOf(estimator: Estimator, expression: Expression): CallArgument {
  const place = estimator.places.get(expression);
  const items = place?.declared?.items;
  return {
    size: sizeRangeOf(estimator, expression),
    type: inferredType(estimator, expression),
    itemSize: items === undefined ? UNKNOWN : { min: 0, max: items.max },
  };
}

function costOfList(estimator: Estimator, list: ListExpression): number {
  const cost = total(list.items.map(({ value }) => costOf(estimator, value)));
  const sizes = list.items.map(({ value }) => sizeRangeOf(estimator, value));
  estimator.entries.set(list, { key: fixed(1), value: unionOf(sizes) });
  return cost + LIST_COST;
}

function costOfMap(estimator: Estimator, map: MapExpression): number {
  const cost = total(map.entries.map(({ key, value }) => costOf(estimator, key) + costOf(estimator, value)));
  const key = unionOf(map.entries.map((entry) => sizeRangeOf(estimator, entry.key)));
  const value = unionOf(map.entries.map((entry) => sizeRangeOf(estimator, entry.value)));
  estimator.entries.set(map, { key, value });
  return cost + MAP_COST;
}

function costOfFold(estimator: Estimator, fold: FoldExpression): number {
  const range = costOf(estimator, fold.range);
  const inner = { ...estimator, locals: new Map([...estimator.locals, ...variablesOf(estimator, fold)]) };
  const condition = fold.condition && costOf(inner, fold.condition);
  const body = costOf(inner, fold.body);
  const { begin, round, end } = foldCosts(fold, body);
  const size = sizeRangeOf(estimator, fold.range);
  setFoldSizes(inner, fold, size);
  return range + begin + times(size.max, round + (condition ?? 0)) + end;
}

function variablesOf(estimator: Estimator, { range, variables }: FoldExpression): [string, Local][] {
  const isList = inferredType(estimator, range).kind === "list";
  const entries = entriesOf(estimator, range);
  const items: Local = { place: below(estimator, range, (declared) => declared.items), size: entries?.value };
  const keys: Local = { place: below(estimator, range, (declared) => declared.keys), size: entries?.key };
  const [first, second] = variables;
  if (first === undefined) return [];
  if (second === undefined) return [[first, isList ? items : keys]];
  return [
    [first, isList ? { place: { declared: undefined }, size: entries?.key } : keys],
    [second, items],
  ];
}

function setFoldSizes(estimator: Estimator, fold: FoldExpression, range: SizeRange): void {
  const { kind, body, variables } = fold;
  if (kind === "all" || kind === "exists" || kind === "existsOne") return;
  estimator.sizes.set(fold, range);
  const [variable = ""] = variables;
  const local = estimator.locals.get(variable);
  const declared = local?.place?.declared;
  const kept = declared === undefined ? (local?.size ?? UNKNOWN) : { min: 0, max: declared.max };
  const made = kind === "map" || kind === "transformList" ? sizeRangeOf(estimator, body) : kept;
  if (kind === "map" || kind === "transformList" || kind === "filter") {
    estimator.entries.set(fold, { key: fixed(1), value: spanning(fixed(0), made) });
  }
}

/** Upstream writes it as `value.hasValue() ? optional.of(body) : optional.none()`, with an empty loop around the body. */
function costOfBind(estimator: Estimator, { value, variable, body, flat }: BindExpression): number {
  const cost = costOf(estimator, value);
  const element = types.optionalElement(inferredType(estimator, value));
  const local: Local = { place: undefined, ...(element && isScalar(element) && { size: fixed(1) }) };
  const inner = { ...estimator, locals: new Map([...estimator.locals, [variable, local] as const]) };
  const bound = LIST_COST + cost + 1 + costOf(inner, body);
  return cost + 1 + bound + (flat ? 0 : 1);
}
