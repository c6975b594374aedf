import type { FieldError } from "../../api/field-error.ts";
import { forbidden } from "../../api/validation/problems.ts";
import { times } from "../cel/estimate/sizes.ts";
import { estimateExpression } from "../cel/program.ts";
import { ruleVariables } from "./compile-rules.ts";
import { ruleType } from "./rule-schema.ts";
import { mostOccurrences, schemaSize } from "./rule-sizes.ts";
import { additionalOf, isEmbeddedResource, itemsOf, type Schema } from "./schema-props.ts";

/** What one expression may cost at most, by its estimate. */
const EXPRESSION_LIMIT = 10_000_000;
/** What all expressions of a schema may cost together. */
const SCHEMA_LIMIT = 100_000_000;
/** So many of the dearest expressions are named when all together cost too much, each of a hundredth of the limit or more. */
const MAX_NAMED = 4;

/** What an expression costs for all values in one object, at most. */
interface ExpressionCost {
  readonly path: string;
  readonly what: "rule" | "messageExpression";
  readonly cost: number;
}

/**
 * The expressions of a schema that may cost too much, each or together, in upstream's words (`validation.go` of
 * apiextensions). The rules compile.
 */
export function checkRuleCosts(root: Schema, path: string): FieldError[] {
  const costs = [...costsOf(root, { path, name: "selfType", isResource: true, occurrences: 1 })];
  const errors = costs
    .filter(({ cost }) => cost > EXPRESSION_LIMIT)
    .map(({ path: at, what, cost }) => forbidden(at, excess(`estimated ${what} cost`, cost, EXPRESSION_LIMIT)));
  const total = costs.reduce((sum, { cost }) => sum + cost, 0);
  if (total <= SCHEMA_LIMIT) return errors;
  const all = "for entire OpenAPIv3 schema";
  const dear = costs.filter(({ cost }) => cost >= SCHEMA_LIMIT / 100).toSorted((a, b) => b.cost - a.cost);
  const contributed = `contributed to estimated rule & messageExpression cost total exceeding cost limit ${all}`;
  const name = `x-kubernetes-validations estimated rule & messageExpression cost total ${all}`;
  return [
    ...errors,
    ...dear.slice(0, MAX_NAMED).map(({ path: at }) => forbidden(at, contributed)),
    forbidden(path, excess(name, total, SCHEMA_LIMIT)),
  ];
}

const ADVICE =
  "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";

function excess(name: string, cost: number, limit: number): string {
  return `${name} exceeds budget by factor of ${formatFactor(cost / limit)} (${ADVICE})`;
}

function formatFactor(factor: number): string {
  if (factor > 100) return "more than 100x";
  return `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
}

interface Position {
  readonly path: string;
  /** The name of the type in expressions. */
  readonly name: string;
  readonly isResource: boolean;
  /** How many such values an object has at most; undefined where the lists and maps around them have no bounds. */
  readonly occurrences: number | undefined;
}

function* costsOf(schema: Schema, position: Position): Generator<ExpressionCost> {
  const { path, name, occurrences } = position;
  yield* ownCosts(schema, position);
  const within = (inner: Schema, part: string, count: number | undefined) =>
    costsOf(inner, {
      path: path + part,
      name: name + part,
      isResource: isEmbeddedResource(inner),
      occurrences: occurrences === undefined || count === undefined ? undefined : occurrences * Math.max(0, count),
    });
  const items = itemsOf(schema);
  const additional = additionalOf(schema);
  if (items) yield* within(items, ".items", schema.maxItems);
  if (typeof additional === "object") yield* within(additional, ".additionalProperties", schema.maxProperties);
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    yield* within(property, `.properties[${field}]`, 1);
  }
}

function* ownCosts(schema: Schema, { path, name, isResource, occurrences }: Position): Generator<ExpressionCost> {
  const rules = schema["x-kubernetes-validations"] ?? [];
  if (rules.length === 0) return;
  const type = ruleType(schema, name, isResource);
  const declared = schemaSize(schema, isResource);
  if (type === undefined || declared === undefined) return;
  for (const [index, rule] of rules.entries()) {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    const variables = ruleVariables(rule, type);
    const once = estimateExpression(rule.rule, variables, declared) ?? 0;
    const count = occurrences ?? mostOccurrences(declared.minBytes);
    yield { path: `${at}.rule`, what: "rule", cost: times(once, count) };
    // A message is made once, for the value that is refused.
    const message = rule.messageExpression ? estimateExpression(rule.messageExpression, variables, declared) : 0;
    yield { path: `${at}.messageExpression`, what: "messageExpression", cost: message ?? 0 };
  }
}
