import type { CostBudget } from "./budget.ts";
import type { Checked } from "./check.ts";
import type {
  BindExpression,
  CallExpression,
  Expression,
  ListExpression,
  LogicalExpression,
  MapExpression,
  SelectExpression,
  StructExpression,
} from "./expression.ts";
import { fitsType, type Overload } from "./overload.ts";
import { planFold } from "./plan-fold.ts";
import type { Planner, ProgramStep } from "./step.ts";
import {
  type CelValue,
  celList,
  celMap,
  celObject,
  failure,
  isFailure,
  keyText,
  kindOf,
  NONE,
  optionalOf,
} from "./values.ts";

/** The program of a checked expression. */
export function planExpression(expression: Expression, checked: Checked, findType: Planner["findType"]): ProgramStep {
  return createPlanner(checked, findType, new Map()).plan(expression);
}

function createPlanner(checked: Checked, findType: Planner["findType"], slots: ReadonlyMap<string, number>): Planner {
  const planner: Planner = {
    checked,
    findType,
    slots,
    plan: (expression, inner) => planNode(inner ? createPlanner(checked, findType, inner) : planner, expression),
  };
  return planner;
}

function planNode(planner: Planner, expression: Expression): ProgramStep {
  const name = planner.checked.variables.get(expression);
  if (name !== undefined) return planVariable(planner, name);
  switch (expression.node) {
    case "literal": {
      const { value } = expression;
      return () => value;
    }
    case "identifier":
      return planLocal(planner.slots.get(expression.name) ?? -1);
    case "select":
      return planSelect(planner, expression);
    case "call":
      return planCall(planner, expression);
    case "list":
      return planList(planner, expression);
    case "map":
      return planMap(planner, expression);
    case "struct":
      return planStruct(planner, expression);
    case "logical":
      return planLogical(planner, expression);
    case "fold":
      return planFold(planner, expression);
    case "bind":
      return planBind(planner, expression);
  }
}

function planVariable(planner: Planner, name: string): ProgramStep {
  const type = planner.findType(name);
  if (type !== undefined) return () => type;
  return ({ budget, readVariable }) => {
    budget.charge(1);
    const value = readVariable(name);
    return value === undefined ? failure(`no such attribute(s): ${name}`) : value;
  };
}

function planLocal(slot: number): ProgramStep {
  return ({ budget, locals }) => {
    budget.charge(1);
    return locals[slot] ?? null;
  };
}

function planSelect(planner: Planner, { operand, field, form }: SelectExpression): ProgramStep {
  const read = planner.plan(operand);
  return (frame) => {
    const value = read(frame);
    if (isFailure(value)) return value;
    if (form !== "presence") frame.budget.charge(1);
    return selectField(value, field, form);
  };
}

function selectField(value: CelValue, field: string, form: SelectExpression["form"]): CelValue {
  if (typeof value !== "object" || value === null) return failure("no such overload");
  if (value.kind === "optional") {
    if (value.value === undefined) return form === "presence" ? false : NONE;
    return form === "presence" ? selectField(value.value, field, form) : selectField(value.value, field, "optional");
  }
  if (value.kind !== "map") return failure("no such overload");
  const found = value.find(field);
  if (form === "presence") return found !== undefined;
  if (form === "optional") return found === undefined ? NONE : optionalOf(found);
  return found === undefined ? failure(`no such key: ${field}`) : found;
}

function planCall(planner: Planner, call: CallExpression): ProgramStep {
  const overloads = planner.checked.overloads.get(call) ?? [];
  const isMember = overloads[0]?.member === true;
  const steps = [...(isMember && call.target ? [call.target] : []), ...call.args].map((arg) => planner.plan(arg));
  if (call.function === "_?_:_") return planTernary(steps);
  // The name between the brackets of an index costs nothing by itself.
  const refund = call.function === "_[_]" && call.args[1]?.node === "identifier" ? 1 : 0;
  return (frame) => {
    const args: CelValue[] = [];
    for (const step of steps) {
      const value = step(frame);
      if (isFailure(value)) return value;
      args.push(value);
    }
    frame.budget.charge(-refund);
    return callOverload(overloads, args, frame.budget);
  };
}

/** What a function does with a text before its first character, and with each. */
const STEPS_A_TEXT = 5;
const CHARACTERS_A_STEP = 10;

function callOverload(overloads: readonly Overload[], args: readonly CelValue[], budget: CostBudget): CelValue {
  const overload = overloads.find((each) => each.args.every((type, index) => fitsType(args[index] ?? null, type)));
  if (overload === undefined) return failure("no such overload");
  budget.charge(overload.cost?.(args) ?? 1);
  for (const arg of args) if (typeof arg === "string") budget.work(STEPS_A_TEXT + arg.length / CHARACTERS_A_STEP);
  return overload.run(args, budget);
}

function planTernary([condition, yes, no]: readonly ProgramStep[]): ProgramStep {
  return (frame) => {
    const value = condition?.(frame) ?? null;
    if (isFailure(value)) return value;
    if (typeof value !== "boolean") return failure("no such overload");
    return (value ? yes : no)?.(frame) ?? null;
  };
}

function planLogical(planner: Planner, { operator, terms }: LogicalExpression): ProgramStep {
  const steps = terms.map((term) => planner.plan(term));
  const decisive = operator === "||";
  return (frame) => {
    let problem: CelValue | undefined;
    for (const step of steps) {
      const value = step(frame);
      if (value === decisive) return decisive;
      if (value !== !decisive) problem ??= isFailure(value) ? value : failure("no such overload");
    }
    return problem ?? !decisive;
  };
}

const LIST_COST = 10;
const MAP_COST = 30;
const STRUCT_COST = 40;

/** True for a literal, and for lists and maps of them: cel-go makes these once, and they cost nothing. */
function isConstant(expression: Expression): boolean {
  switch (expression.node) {
    case "literal":
      return true;
    case "list":
      return expression.items.every(({ value, optional }) => !optional && isConstant(value));
    case "map":
      return expression.entries.every(({ key, value, optional }) => !optional && isConstant(key) && isConstant(value));
    default:
      return false;
  }
}

function planList(planner: Planner, list: ListExpression): ProgramStep {
  const { items } = list;
  const cost = isConstant(list) ? 0 : LIST_COST;
  const steps = items.map(({ value, optional }) => ({ step: planner.plan(value), optional }));
  return (frame) => {
    const values: CelValue[] = [];
    for (const { step, optional } of steps) {
      const value = step(frame);
      if (isFailure(value)) return value;
      const kept = optional ? unwrapped(value) : value;
      if (kept !== undefined) values.push(kept);
    }
    frame.budget.charge(cost);
    return celList(values);
  };
}

function unwrapped(value: CelValue): CelValue | undefined {
  return typeof value === "object" && value?.kind === "optional" ? value.value : value;
}

function planMap(planner: Planner, map: MapExpression): ProgramStep {
  const { entries } = map;
  const cost = isConstant(map) ? 0 : MAP_COST;
  const steps = entries.map((entry) => ({
    key: planner.plan(entry.key),
    value: planner.plan(entry.value),
    optional: entry.optional,
  }));
  return (frame) => {
    const pairs: Array<readonly [CelValue, CelValue]> = [];
    const seen = new Set<string>();
    for (const { key, value, optional } of steps) {
      const name = key(frame);
      if (isFailure(name)) return name;
      const text = keyText(name);
      if (text === undefined) return failure(`unsupported key type: ${kindOf(name)}`);
      const found = value(frame);
      if (isFailure(found)) return found;
      if (seen.has(text)) return failure("Failed with repeated key");
      seen.add(text);
      const kept = optional ? unwrapped(found) : found;
      if (kept !== undefined) pairs.push([name, kept]);
    }
    frame.budget.charge(cost);
    return celMap(pairs);
  };
}

function planStruct(planner: Planner, { typeName, fields }: StructExpression): ProgramStep {
  const steps = fields.map(({ name, value, optional }) => ({ name, step: planner.plan(value), optional }));
  return (frame) => {
    const values = new Map<string, CelValue>();
    for (const { name, step, optional } of steps) {
      const value = step(frame);
      if (isFailure(value)) return value;
      const kept = optional ? unwrapped(value) : value;
      if (kept === undefined) values.delete(name);
      else values.set(name, kept);
    }
    frame.budget.charge(STRUCT_COST);
    return celObject(typeName, values);
  };
}

function planBind(planner: Planner, { value, variable, body, flat }: BindExpression): ProgramStep {
  const slot = planner.slots.size;
  const read = planner.plan(value);
  const step = planner.plan(body, new Map(planner.slots).set(variable, slot));
  return (frame) => {
    const optional = read(frame);
    if (isFailure(optional)) return optional;
    if (typeof optional !== "object" || optional?.kind !== "optional") return failure("no such overload");
    if (optional.value === undefined) return NONE;
    frame.locals[slot] = optional.value;
    const result = step(frame);
    return flat || isFailure(result) ? result : optionalOf(result);
  };
}
