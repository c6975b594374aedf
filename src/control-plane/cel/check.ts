import type {
  BindExpression,
  CallExpression,
  Expression,
  FoldExpression,
  ListExpression,
  MapExpression,
  SelectExpression,
  SourceProblem,
  StructExpression,
} from "./expression.ts";
import type { Overload } from "./overload.ts";
import type { Bindings, CelType } from "./types.ts";
import * as types from "./types.ts";
import { type CelValue, kindOf } from "./values.ts";

/** What an expression may refer to. */
export interface Environment {
  /** Variables by name, `authorizer.requestResource` among them. */
  readonly variables: ReadonlyMap<string, CelType>;
  /** Functions by name. */
  readonly functions: ReadonlyMap<string, readonly Overload[]>;
  /** Types that can be named; those that are objects can be created. */
  findType(name: string): CelType | undefined;
}

/** What the checker found out of an expression. */
export interface Checked {
  readonly type: CelType;
  readonly types: ReadonlyMap<Expression, CelType>;
  /** The overloads that a call may have; which one depends on the values, where their type is open. */
  readonly overloads: ReadonlyMap<CallExpression, readonly Overload[]>;
  /** The names that stand for variables of the environment, also those with dots. */
  readonly variables: ReadonlyMap<Expression, string>;
}

interface Checker {
  readonly environment: Environment;
  readonly types: Map<Expression, CelType>;
  readonly overloads: Map<CallExpression, readonly Overload[]>;
  readonly variables: Map<Expression, string>;
  readonly problems: SourceProblem[];
  bindings: Bindings;
  freeNames: number;
}

type Scope = ReadonlyMap<string, CelType>;

/** Infers the type of the expression and of all in it, or tells what does not fit. */
export function checkExpression(
  expression: Expression,
  environment: Environment,
): Checked | { problems: readonly SourceProblem[] } {
  const checker: Checker = {
    environment,
    types: new Map(),
    overloads: new Map(),
    variables: new Map(),
    problems: [],
    bindings: new Map(),
    freeNames: 0,
  };
  const type = check(checker, expression, new Map());
  if (checker.problems.length > 0) return { problems: checker.problems };
  const { overloads, variables } = checker;
  const resolved = new Map(
    [...checker.types].map(([node, each]) => [node, types.substitute(checker.bindings, each, true)]),
  );
  return { type: types.substitute(checker.bindings, type, true), types: resolved, overloads, variables };
}

function check(checker: Checker, expression: Expression, scope: Scope): CelType {
  const type = types.substitute(checker.bindings, checkNode(checker, expression, scope));
  checker.types.set(expression, type);
  return type;
}

function checkNode(checker: Checker, expression: Expression, scope: Scope): CelType {
  switch (expression.node) {
    case "literal":
      return typeOfLiteral(expression.value);
    case "identifier": {
      const found = scope.get(expression.name) ?? findName(checker, expression, expression.name);
      return found ?? undeclared(checker, expression, expression.name);
    }
    case "select":
      return checkSelect(checker, expression, scope);
    case "call":
      return checkCall(checker, expression, scope);
    case "list":
      return checkList(checker, expression, scope);
    case "map":
      return checkMap(checker, expression, scope);
    case "struct":
      return checkStruct(checker, expression, scope);
    case "logical": {
      for (const term of expression.terms) expectType(checker, term, check(checker, term, scope));
      return types.BOOL;
    }
    case "fold":
      return checkFold(checker, expression, scope);
    case "bind":
      return checkBind(checker, expression, scope);
  }
}

function typeOfLiteral(value: CelValue): CelType {
  const kind = kindOf(value);
  switch (kind) {
    case "null":
    case "bool":
    case "int":
    case "uint":
    case "double":
    case "string":
    case "bytes":
      return { kind };
    default:
      return types.DYN;
  }
}

/** A variable or type of the environment. */
function findName(checker: Checker, expression: Expression, name: string): CelType | undefined {
  const variable = checker.environment.variables.get(name);
  const named = checker.environment.findType(name);
  if (variable === undefined && named === undefined) return undefined;
  checker.variables.set(expression, name);
  return variable ?? (named && { kind: "type", of: named });
}

function undeclared(checker: Checker, expression: Expression, name: string): CelType {
  return report(checker, expression, `undeclared reference to '${name}' (in container '')`);
}

function report(checker: Checker, { offset }: { offset: number }, message: string): CelType {
  checker.problems.push({ offset, message });
  return types.ERROR;
}

function mismatch(checker: Checker, at: { offset: number }, name: string, args: readonly CelType[]): CelType {
  return report(checker, at, noOverload(checker, name, args, false));
}

function noOverload(checker: Checker, name: string, args: readonly CelType[], isMember: boolean): string {
  const shown = args.map((each) => types.formatType(types.substitute(checker.bindings, each, true)));
  const signature = isMember ? `${shown[0]}.(${shown.slice(1).join(", ")})` : `(${shown.join(", ")})`;
  return `found no matching overload for '${name}' applied to '${signature}'`;
}

function expectType(checker: Checker, at: Expression, type: CelType): void {
  if (unifies(checker, type, types.BOOL)) return;
  report(checker, at, `expected type 'bool' but found '${types.formatType(type)}'`);
}

/** True when the type fits, with what the type parameters stand for from now on. */
function unifies(checker: Checker, actual: CelType, expected: CelType): boolean {
  const bindings = types.unify(checker.bindings, actual, expected);
  if (bindings === undefined) return false;
  checker.bindings = bindings;
  return true;
}

/** The dotted name that a chain of plain fields is, of no local variable; undefined for any other expression. */
function qualifiedName(expression: Expression, scope: Scope): string | undefined {
  if (expression.node === "identifier") return scope.has(expression.name) ? undefined : expression.name;
  if (expression.node !== "select" || expression.form !== "plain") return undefined;
  const operand = qualifiedName(expression.operand, scope);
  return operand === undefined ? undefined : `${operand}.${expression.field}`;
}

function checkSelect(checker: Checker, select: SelectExpression, scope: Scope): CelType {
  const name = qualifiedName(select, scope);
  const named = name === undefined ? undefined : findName(checker, select, name);
  if (named !== undefined) return named;
  const operand = check(checker, select.operand, scope);
  const element = types.optionalElement(operand);
  const field = fieldType(checker, select, element ?? operand);
  if (select.form === "presence") return types.BOOL;
  const isOptional = element !== undefined || select.form === "optional";
  return isOptional && field.kind !== "error" ? types.optionalType(types.optionalElement(field) ?? field) : field;
}

function fieldType(checker: Checker, select: SelectExpression, operand: CelType): CelType {
  switch (operand.kind) {
    case "dyn":
    case "error":
      return operand;
    case "map":
      return operand.value;
    case "param":
      return types.DYN;
    case "object":
      return operand.fields.get(select.field) ?? report(checker, select, `undefined field '${select.field}'`);
    default:
      return report(checker, select, `type '${types.formatType(operand)}' does not support field selection`);
  }
}

function checkCall(checker: Checker, call: CallExpression, scope: Scope): CelType {
  const { functions } = checker.environment;
  const prefix = call.target && qualifiedName(call.target, scope);
  const namespaced = prefix === undefined ? undefined : functions.get(`${prefix}.${call.function}`);
  if (namespaced) {
    const args = call.args.map((arg) => check(checker, arg, scope));
    return resolve(checker, call, { name: `${prefix}.${call.function}`, overloads: namespaced, args });
  }
  const all = functions.get(call.function);
  const target = call.target && check(checker, call.target, scope);
  const rest = call.args.map((arg) => check(checker, arg, scope));
  if (!all) return undeclared(checker, call, call.function);
  const args = target ? [target, ...rest] : rest;
  const overloads = all.filter((each) => each.member === (target !== undefined));
  return resolve(checker, call, { name: call.function, overloads, args });
}

interface Candidates {
  readonly name: string;
  readonly overloads: readonly Overload[];
  readonly args: readonly CelType[];
}

function resolve(checker: Checker, call: CallExpression, { name, overloads, args }: Candidates): CelType {
  const start = checker.bindings;
  const fitting: Overload[] = [];
  let result: CelType | undefined;
  for (const overload of overloads) {
    if (overload.args.length !== args.length) continue;
    const fresh = freshen(checker);
    const bindings = unifyAll(start, args, overload.args.map(fresh));
    if (bindings === undefined) continue;
    fitting.push(overload);
    checker.bindings = bindings;
    const returned = types.substitute(bindings, fresh(overload.result));
    if (result === undefined) result = returned;
    else if (types.formatType(result) !== types.formatType(returned)) result = types.DYN;
  }
  checker.overloads.set(call, fitting);
  return result ?? report(checker, call, noOverload(checker, name, args, overloads[0]?.member ?? false));
}

function unifyAll(start: Bindings, actual: readonly CelType[], expected: readonly CelType[]): Bindings | undefined {
  let bindings: Bindings | undefined = start;
  for (const [index, each] of actual.entries()) {
    bindings = bindings && types.unify(bindings, each, expected[index] ?? types.DYN);
  }
  return bindings;
}

/** Gives the parameters of a declaration names of their own, for one call. */
function freshen(checker: Checker): (type: CelType) => CelType {
  const suffix = `#${checker.freeNames++}`;
  const rename = (type: CelType): CelType => {
    switch (type.kind) {
      case "param":
        return types.param(type.name + suffix);
      case "list":
        return types.listType(rename(type.element));
      case "map":
        return types.mapType(rename(type.key), rename(type.value));
      case "opaque":
        return { ...type, parameters: type.parameters.map(rename) };
      default:
        return type.kind === "type" && type.of ? { kind: "type", of: rename(type.of) } : type;
    }
  };
  return rename;
}

function checkList(checker: Checker, { items }: ListExpression, scope: Scope): CelType {
  let element: CelType | undefined;
  for (const { value, optional } of items) {
    const type = check(checker, value, scope);
    element = join(checker, value, element, optional ? unwrap(checker, value, type) : type);
  }
  return types.listType(element ?? types.param(`list${checker.freeNames++}`));
}

function checkMap(checker: Checker, { entries }: MapExpression, scope: Scope): CelType {
  let key: CelType | undefined;
  let value: CelType | undefined;
  for (const entry of entries) {
    key = join(checker, entry.key, key, check(checker, entry.key, scope));
    const type = check(checker, entry.value, scope);
    value = join(checker, entry.value, value, entry.optional ? unwrap(checker, entry.value, type) : type);
  }
  const free = () => types.param(`map${checker.freeNames++}`);
  return types.mapType(key ?? free(), value ?? free());
}

function checkStruct(checker: Checker, struct: StructExpression, scope: Scope): CelType {
  const type = checker.environment.findType(struct.typeName);
  if (type === undefined) return undeclared(checker, struct, struct.typeName);
  if (type.kind !== "object") return report(checker, struct, `'${struct.typeName}' is not a message type`);
  for (const field of struct.fields) {
    const { name, value, optional } = field;
    const checked = check(checker, value, scope);
    const given = optional ? unwrap(checker, value, checked) : checked;
    const expected = type.fields.get(name) ?? report(checker, field, `undefined field '${name}'`);
    if (unifies(checker, given, expected)) continue;
    const shown = types.formatType(types.substitute(checker.bindings, given, true));
    const wanted = types.formatType(expected);
    report(checker, field, `expected type of field '${name}' is '${wanted}' but provided type is '${shown}'`);
  }
  return type;
}

/** The type of an optional entry's value. */
function unwrap(checker: Checker, expression: Expression, type: CelType): CelType {
  if (types.isDyn(type)) return type;
  const expected = types.formatType(types.optionalType(type));
  const problem = `expected type '${expected}' but found '${types.formatType(type)}'`;
  return types.optionalElement(type) ?? report(checker, expression, problem);
}

/** The type of all entries so far: upstream wants them to be of one type. */
function join(checker: Checker, expression: Expression, before: CelType | undefined, type: CelType): CelType {
  if (before === undefined) return type;
  if (unifies(checker, type, before)) return types.isDyn(type) || before.kind === "null" ? type : before;
  const expected = types.formatType(types.substitute(checker.bindings, before, true));
  report(checker, expression, `expected type '${expected}' but found '${types.formatType(type)}'`);
  return before;
}

function checkFold(checker: Checker, fold: FoldExpression, scope: Scope): CelType {
  const range = check(checker, fold.range, scope);
  const [first = "", second] = fold.variables;
  const [index, item] = iterated(checker, fold, range);
  const isMap = range.kind === "map";
  const inner = new Map(scope);
  if (second === undefined) inner.set(first, isMap ? index : item);
  else inner.set(first, index).set(second, item);
  if (fold.condition) expectBool(checker, fold, check(checker, fold.condition, inner));
  const body = check(checker, fold.body, inner);
  switch (fold.kind) {
    case "all":
    case "exists":
    case "existsOne":
      expectBool(checker, fold, body);
      return types.BOOL;
    case "filter":
      expectBool(checker, fold, body);
      return types.listType(second === undefined && isMap ? index : item);
    case "sortBy":
      return types.listType(item);
    case "transformMap":
      return types.mapType(index, body);
    case "transformMapEntry":
      return body.kind === "map" || types.isDyn(body) ? body : mismatch(checker, fold, fold.kind, [body]);
    default:
      return types.listType(body);
  }
}

/** What the two variables of a macro are: index and item of a list, key and value of a map. */
function iterated(checker: Checker, fold: FoldExpression, range: CelType): readonly [CelType, CelType] {
  if (range.kind === "list") return [types.INT, range.element];
  if (range.kind === "map") return [range.key, range.value];
  if (types.isDyn(range) || range.kind === "param") return [types.DYN, types.DYN];
  const shown = types.formatType(range);
  report(
    checker,
    fold.range,
    `expression of type '${shown}' cannot be range of a comprehension (must be list, map, or dynamic)`,
  );
  return [types.ERROR, types.ERROR];
}

function expectBool(checker: Checker, fold: FoldExpression, type: CelType): void {
  if (fold.kind === "all" || fold.kind === "exists") expectType(checker, fold.body, type);
  else if (!unifies(checker, type, types.BOOL)) mismatch(checker, fold.body, "_?_:_", [type, types.DYN, types.DYN]);
}

function checkBind(checker: Checker, bind: BindExpression, scope: Scope): CelType {
  const value = check(checker, bind.value, scope);
  const element = types.optionalElement(value) ?? (types.isDyn(value) ? types.DYN : undefined);
  if (element === undefined) return mismatch(checker, bind, bind.flat ? "optFlatMap" : "optMap", [value]);
  const body = check(checker, bind.body, new Map(scope).set(bind.variable, element));
  if (!bind.flat) return types.optionalType(body);
  return types.optionalElement(body) || types.isDyn(body) ? body : mismatch(checker, bind.body, "optFlatMap", [body]);
}
