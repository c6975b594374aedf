import type { ExpressionWarning, ValidatingAdmissionPolicySpec } from "../../../api/gen/types.ts";
import { compileExpression } from "../program.ts";
import type { CelType } from "../types.ts";
import * as types from "../types.ts";
import { policyVariables } from "./policy-types.ts";

/** A kind of objects that a policy may see. */
export interface CheckedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly type: CelType;
}

/** A problem of one expression with one kind. */
export interface TypeProblem {
  /** `spec.validations[0].expression`. */
  readonly fieldRef: string;
  /** By kind and in cel-go's words, with a line break at its end, as upstream. */
  readonly text: string;
}

type Spec = Pick<ValidatingAdmissionPolicySpec, "paramKind" | "validations" | "variables">;

/**
 * The problems of a policy's validations and of their messages with the objects of a kind and of the parameters, whose
 * types are dynamic when the policy runs (`policy/validating/typechecking.go`).
 */
export function checkPolicyTypes(spec: Spec, object: CheckedKind, params: CelType | undefined): TypeProblem[] {
  const scope = scopeOf(spec, object.type, params);
  const subject = `${object.group}/${object.version}, Kind=${object.kind}`;
  const check = (fieldRef: string, text: string): TypeProblem[] => {
    const found = compileExpression(text, scope);
    return "problem" in found ? [{ fieldRef, text: `${subject}: ${found.problem}\n` }] : [];
  };
  return (spec.validations ?? []).flatMap(({ expression, messageExpression = "" }, index) => {
    const path = `spec.validations[${index}]`;
    return [
      ...check(`${path}.expression`, expression),
      ...(messageExpression === "" ? [] : check(`${path}.messageExpression`, messageExpression)),
    ];
  });
}

/** The problems as the status of a policy shows them: a warning for each expression, in the order of the expressions. */
export function expressionWarnings(problems: readonly TypeProblem[]): ExpressionWarning[] {
  const byField = new Map<string, string[]>();
  for (const { fieldRef, text } of problems) byField.set(fieldRef, [...(byField.get(fieldRef) ?? []), text]);
  return [...byField].map(([fieldRef, texts]) => ({ fieldRef, warning: texts.join("\n") }));
}

function scopeOf(
  { paramKind, variables = [] }: Spec,
  object: CelType,
  params: CelType | undefined,
): ReadonlyMap<string, CelType> {
  const fields = new Map<string, CelType>();
  const scope = new Map(
    policyVariables({
      params: paramKind !== undefined,
      authorizer: true,
      variables: { kind: "object", name: "kubernetes.variables", fields },
    }),
  );
  const named = withPlainNames(object);
  scope.set("object", named).set("oldObject", named);
  if (paramKind !== undefined && params !== undefined) scope.set("params", withPlainNames(params));
  for (const { name, expression } of variables) {
    const program = compileExpression(expression, scope);
    fields.set(name, "problem" in program ? types.DYN : variableType(program.type));
  }
  return scope;
}

/** The type of a variable as expressions see it: upstream knows nothing of the objects in it. */
function variableType(type: CelType): CelType {
  switch (type.kind) {
    case "list":
      return types.listType(variableType(type.element));
    case "map":
      return types.mapType(variableType(type.key), variableType(type.value));
    case "object":
    case "opaque":
    case "param":
    case "type":
    case "error":
      return types.DYN;
    default:
      return type;
  }
}

/**
 * The type with its fields by their plain names and by their escaped ones. When a policy runs, `metadata.namespace` is
 * the field's name, and in schemas it is `metadata.__namespace__`.
 */
function withPlainNames(type: CelType): CelType {
  switch (type.kind) {
    case "list":
      return types.listType(withPlainNames(type.element));
    case "map":
      return types.mapType(type.key, withPlainNames(type.value));
    case "object":
      return { ...type, fields: { get: (name) => fieldOf(type.fields, name) } };
    default:
      return type;
  }
}

function fieldOf(fields: { get(name: string): CelType | undefined }, name: string): CelType | undefined {
  const plain = /^__(.+)__$/.exec(name)?.[1];
  const found = fields.get(name) ?? fields.get(`__${name}__`) ?? (plain === undefined ? undefined : fields.get(plain));
  return found && withPlainNames(found);
}
