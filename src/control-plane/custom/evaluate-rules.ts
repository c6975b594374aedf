import { isDeepStrictEqual } from "node:util";
import { type FieldError, formatFieldError, showValue } from "../../api/field-error.ts";
import type { ValidationRule } from "../../api/gen/types.ts";
import { isRecord } from "../../api/object.ts";
import { duplicate, forbidden, invalid, required } from "../../api/validation/problems.ts";
import type { Evaluation, Program } from "../cel/program.ts";
import { type CelValue, NONE, optionalOf } from "../cel/values.ts";
import type { CompiledRule, RuleNode } from "./compile-rules.ts";
import { itemIdentity, listKeysOf } from "./former-value.ts";
import { ruleValue } from "./rule-value.ts";

/** What the rules say of an object. Warnings are problems that the update did not cause. */
interface RuleFindings {
  readonly errors: FieldError[];
  readonly warnings: string[];
}

/** What all rules of one object may cost together, as upstream limits it. */
const OBJECT_BUDGET = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;
const EXHAUSTED = "validation failed due to running out of cost budget, no further validation rules will be run";

interface Work extends RuleFindings {
  budget: number;
}

/** A value, and what is known of the value that it replaces. */
interface Place {
  readonly path: string;
  readonly value: unknown;
  /** The value before; undefined where there was none, or where nobody can say which it was. */
  readonly old: unknown;
  /** True when the value, or the nearest one around it that can be compared, is as it was before. */
  isUnchanged(): boolean;
}

/** Evaluates all rules of an object; `old` is undefined when it is created. */
export function evaluateRules(root: RuleNode, value: unknown, old: unknown): RuleFindings {
  const work: Work = { errors: [], warnings: [], budget: OBJECT_BUDGET };
  evaluateNode(root, { path: "", value, old, isUnchanged: () => same(value, old) }, work);
  const { errors, warnings } = work;
  return { errors, warnings };
}

function same(value: unknown, old: unknown): boolean {
  return old !== undefined && isDeepStrictEqual(value, old);
}

function evaluateNode(node: RuleNode, place: Place, work: Work): void {
  const { value, old } = place;
  if (work.budget < 0 || value === null || value === undefined) return;
  if (node.rules.length > 0) evaluateOwn(node, place, work);
  if (Array.isArray(value) && node.items) evaluateItems(node, node.items, place, work);
  if (!isRecord(value)) return;
  const before = isRecord(old) ? old : {};
  for (const [name, item] of Object.entries(value)) {
    const property = node.properties.get(name);
    const below = property ?? node.additional;
    if (!below) continue;
    const path = property ? joinPath(place.path, `.${name}`) : joinPath(place.path, `[${name}]`);
    evaluateNode(below, inner(place, path, item, Object.hasOwn(before, name) ? before[name] : undefined), work);
  }
}

function inner(outer: Place, path: string, value: unknown, old: unknown): Place {
  return { path, value, old, isUnchanged: () => (old === undefined ? outer.isUnchanged() : same(value, old)) };
}

function joinPath(path: string, part: string): string {
  return path === "" ? part.replace(/^\./, "") : path + part;
}

/** Only the items of a map list can be told from each other, so that each has a value before. */
function evaluateItems(node: RuleNode, items: RuleNode, place: Place, work: Work): void {
  const list: readonly unknown[] = Array.isArray(place.value) ? place.value : [];
  const keys = listKeysOf(node.schema);
  const before = new Map<string, unknown>();
  if (keys.length > 0 && Array.isArray(place.old)) {
    for (const item of place.old) before.set(itemIdentity(item, keys), item);
  }
  for (const [index, item] of list.entries()) {
    const old = keys.length > 0 ? before.get(itemIdentity(item, keys)) : undefined;
    evaluateNode(items, inner(place, `${place.path}[${index}]`, item, old), work);
  }
}

function evaluateOwn({ schema, isResource, rules }: RuleNode, place: Place, work: Work): void {
  const type = schema.type ?? "";
  const self = ruleValue(schema, place.value, isResource);
  const old = place.old === undefined || place.old === null ? undefined : ruleValue(schema, place.old, isResource);
  for (const compiled of rules) {
    if (work.budget <= 0) {
      work.errors.push(invalid(shownPath(place.path), type, EXHAUSTED));
      work.budget = -1;
      return;
    }
    const isOptional = compiled.rule.optionalOldSelf === true;
    if (compiled.usesOldSelf && old === undefined && !isOptional) continue;
    const oldSelf = isOptional ? (old === undefined ? NONE : optionalOf(old)) : old;
    const readVariable = (name: string) => (name === "self" ? self : oldSelf);
    evaluateRule(compiled, { place, type, readVariable }, work);
    if (work.budget < 0) return;
  }
}

interface RuleContext {
  readonly place: Place;
  readonly type: string;
  readVariable(name: string): CelValue | undefined;
}

function evaluateRule(compiled: CompiledRule, { place, type, readVariable }: RuleContext, work: Work): void {
  const { rule, program } = compiled;
  const path = shownPath(place.path);
  if ("problem" in program) {
    work.errors.push(invalid(path, type, `rule compile error: ${program.problem}`));
    return;
  }
  const result = spend(program, readVariable, work);
  if (result === undefined) {
    work.errors.push(invalid(path, type, EXHAUSTED));
    return;
  }
  if (result.outcome === "value" && result.value === true) return;
  if (result.outcome !== "value") {
    work.errors.push(invalid(path, type, explain(result, rule)));
    if (result.outcome === "exceeded") work.budget = -1;
    return;
  }
  const detail = messageOf(compiled, readVariable, work);
  const at = shownPath(joinPath(place.path, compiled.fieldPath));
  const error = errorFor({ at, rule, detail, value: type === "object" || type === "array" ? undefined : place.value });
  // A rule about the change itself is never excused by what was there before.
  if (!compiled.usesOldSelf && place.isUnchanged()) work.warnings.push(formatFieldError(error));
  else work.errors.push(error);
}

/** Evaluates a program and takes its cost; undefined when there is not enough left. */
function spend(program: Program, readVariable: RuleContext["readVariable"], work: Work): Evaluation | undefined {
  const result = program.evaluate(readVariable);
  work.budget -= result.cost;
  return work.budget < 0 && result.outcome !== "exceeded" ? undefined : result;
}

const shownPath = (path: string) => (path === "" ? "<nil>" : path);

const shownRule = ({ message = "", rule }: ValidationRule) => (message === "" ? rule : message).trim();

function explain({ outcome, message }: Exclude<Evaluation, { outcome: "value" }>, rule: ValidationRule): string {
  if (outcome === "exceeded") {
    return `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shownRule(rule)}`;
  }
  if (!message.startsWith("no such overload")) return `${message} evaluating rule: ${shownRule(rule)}`;
  const problem = "call arguments did not match a supported operator, function or macro signature for rule";
  return `'${message}': ${problem}: ${shownRule(rule)}`;
}

/** What the message expression says, or else the message of the rule. */
function messageOf({ rule, messageProgram }: CompiledRule, read: RuleContext["readVariable"], work: Work): string {
  if (messageProgram && "evaluate" in messageProgram) {
    const result = spend(messageProgram, read, work);
    if (result === undefined || result.outcome === "exceeded") {
      work.budget = -1;
      if (result) {
        const shown = JSON.stringify(rule.messageExpression);
        return `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${shown}`;
      }
      return "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
    }
    const text = result.outcome === "value" && typeof result.value === "string" ? result.value.trim() : "";
    if (text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES) return text;
  }
  return rule.message ? rule.message.trim() : `failed rule: ${shownRule(rule)}`;
}

interface Broken {
  readonly at: string;
  readonly rule: ValidationRule;
  readonly detail: string;
  readonly value: unknown;
}

function errorFor({ at, rule, detail, value }: Broken): FieldError {
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbidden(at, detail);
    case "FieldValueRequired":
      return required(at, detail);
    case "FieldValueDuplicate":
      return value === undefined ? { ...duplicate(at, ""), message: "Duplicate value" } : duplicate(at, value);
    default: {
      const shown = value === undefined ? "" : `${showValue(value)}: `;
      return { path: at, reason: "FieldValueInvalid", message: `Invalid value: ${shown}${detail}` };
    }
  }
}
