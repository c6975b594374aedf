import type { ValidationRule } from "../../api/gen/types.ts";
import { compileExpression, type Program } from "../cel/program.ts";
import type { CelType } from "../cel/types.ts";
import * as types from "../cel/types.ts";
import { readFieldPath } from "./rule-field-path.ts";
import { ruleType } from "./rule-schema.ts";
import { additionalOf, isEmbeddedResource, itemsOf, type Schema } from "./schema-props.ts";

/** A rule of a schema, ready to evaluate, or why it cannot be. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: Program | { readonly problem: string };
  readonly messageProgram: Program | { readonly problem: string } | undefined;
  /** The rule compares with the value before, and is not evaluated where there is none. */
  readonly usesOldSelf: boolean;
  /** Where below the value the problem is, in the form of a path: `.spec.replicas`. */
  readonly fieldPath: string;
}

/** The rules of a schema and of all schemas in it, as a tree of the schemas that have any. */
export interface RuleNode {
  readonly schema: Schema;
  readonly isResource: boolean;
  readonly rules: readonly CompiledRule[];
  readonly items: RuleNode | undefined;
  readonly additional: RuleNode | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
}

/** The compiled rules of the schema of a custom resource; undefined when there are none. */
export function compileRules(root: Schema): RuleNode | undefined {
  return compileNode(root, "selfType", true);
}

function compileNode(schema: Schema, name: string, isResource = isEmbeddedResource(schema)): RuleNode | undefined {
  const items = itemsOf(schema);
  const additional = additionalOf(schema);
  const properties = new Map<string, RuleNode>();
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    const node = compileNode(property, `${name}.${field}`);
    if (node) properties.set(field, node);
  }
  const node: RuleNode = {
    schema,
    isResource,
    rules: compileOwnRules(schema, ruleType(schema, name, isResource)),
    items: items && compileNode(items, `${name}.@idx`),
    additional: typeof additional === "object" ? compileNode(additional, `${name}.@elem`) : undefined,
    properties,
  };
  return node.rules.length > 0 || node.items || node.additional || properties.size > 0 ? node : undefined;
}

/** The rules that a schema states of its values; `type` is what expressions know of them. */
export function compileOwnRules(schema: Schema, type: CelType | undefined): CompiledRule[] {
  const rules = schema["x-kubernetes-validations"] ?? [];
  return type === undefined ? [] : rules.map((rule) => compileRule(schema, rule, type));
}

/** The variables of a rule about values of the type. */
export function ruleVariables({ optionalOldSelf }: ValidationRule, type: CelType): ReadonlyMap<string, CelType> {
  return new Map([
    ["self", type],
    ["oldSelf", optionalOldSelf === true ? types.optionalType(type) : type],
  ]);
}

function compileRule(schema: Schema, rule: ValidationRule, type: CelType): CompiledRule {
  const variables = ruleVariables(rule, type);
  const program = compileExpected(rule.rule, variables, {
    type: types.BOOL,
    failed: "compilation failed: ",
    wrong: "cel expression must evaluate to a bool",
  });
  const messageProgram = rule.messageExpression
    ? compileExpected(rule.messageExpression, variables, {
        type: types.STRING,
        failed: "messageExpression compilation failed: ",
        wrong: "messageExpression must evaluate to a string",
      })
    : undefined;
  const usesOldSelf = "variables" in program && program.variables.has("oldSelf");
  const path = rule.fieldPath ? readFieldPath(schema, rule.fieldPath) : undefined;
  return { rule, program, messageProgram, usesOldSelf, fieldPath: path ?? "" };
}

interface Expected {
  readonly type: CelType;
  readonly failed: string;
  readonly wrong: string;
}

function compileExpected(
  text: string,
  variables: ReadonlyMap<string, CelType>,
  { type, failed, wrong }: Expected,
): Program | { problem: string } {
  const program = compileExpression(text, variables);
  if ("problem" in program) return { problem: failed + program.problem };
  return program.type.kind === type.kind ? program : { problem: wrong };
}
