import type { FieldError } from "../../../api/field-error.ts";
import type { MatchCondition, ValidatingAdmissionPolicySpec, Validation } from "../../../api/gen/types.ts";
import { invalid } from "../../../api/validation/problems.ts";
import { compileExpression, type Program } from "../program.ts";
import type { CelType } from "../types.ts";
import { policyVariables } from "./policy-types.ts";

/** The expressions of a policy, ready to evaluate. */
export interface CompiledPolicy {
  readonly variables: readonly NamedProgram[];
  readonly matchConditions: readonly NamedProgram[];
  readonly validations: readonly CompiledValidation[];
  /** By their keys. */
  readonly auditAnnotations: readonly NamedProgram[];
  /** The expressions that do not compile; they are not among the others. */
  readonly problems: readonly FieldError[];
}

/** An expression that is known by a name: a variable, a condition, an annotation. */
export interface NamedProgram {
  readonly name: string;
  readonly program: Program;
}

interface CompiledValidation {
  readonly validation: Validation;
  readonly program: Program;
  readonly message: Program | undefined;
}

type ResultKind = "bool" | "string" | "null" | "any";

const WRONG_TYPE: Readonly<Record<ResultKind, string>> = {
  bool: "must evaluate to bool",
  string: "must evaluate to string",
  null: "must evaluate to one of [string null_type]",
  any: "",
};

/** Compiles all expressions of a policy. Each variable may use those before it. */
export function compilePolicy(spec: ValidatingAdmissionPolicySpec): CompiledPolicy {
  const problems: FieldError[] = [];
  const params = spec.paramKind !== undefined;
  const fields = new Map<string, CelType>();
  const variables: CelType | undefined = spec.variables?.length
    ? { kind: "object", name: "kubernetes.variables", fields }
    : undefined;
  const scope = (authorizer: boolean) => policyVariables({ params, authorizer, ...(variables && { variables }) });
  const compile = (text: string, result: ResultKind, where: Where): Program | undefined => {
    const found = compileTo(text, result, where);
    if ("problem" in found) problems.push(invalid(where.path, text, found.problem));
    return "problem" in found ? undefined : found;
  };

  const named = (spec.variables ?? []).flatMap(({ name, expression }, index) => {
    const program = compile(expression, "any", { path: `spec.variables[${index}].expression`, scope: scope(true) });
    if (program) fields.set(name, program.type);
    return program ? [{ name, program }] : [];
  });
  const conditions = compileMatchConditions(spec.matchConditions, "spec.matchConditions", params);
  problems.push(...conditions.problems);
  const validations = (spec.validations ?? []).flatMap((validation, index) => {
    const path = `spec.validations[${index}]`;
    const program = compile(validation.expression, "bool", { path: `${path}.expression`, scope: scope(true) });
    const message = validation.messageExpression?.trim()
      ? compile(validation.messageExpression, "string", { path: `${path}.messageExpression`, scope: scope(false) })
      : undefined;
    return program ? [{ validation, program, message }] : [];
  });
  const auditAnnotations = (spec.auditAnnotations ?? []).flatMap(({ key, valueExpression }, index) => {
    const path = `spec.auditAnnotations[${index}].valueExpression`;
    const program = compile(valueExpression.trim(), "null", { path, scope: scope(true) });
    return program ? [{ name: key, program }] : [];
  });
  return { variables: named, matchConditions: conditions.programs, validations, auditAnnotations, problems };
}

/** Compiles the conditions of a policy or webhook at this path; `params` tells whether they may read parameters. */
export function compileMatchConditions(
  conditions: readonly MatchCondition[] | undefined = [],
  path: string,
  params: boolean,
): { readonly programs: readonly NamedProgram[]; readonly problems: readonly FieldError[] } {
  const scope = policyVariables({ params, authorizer: true });
  const problems: FieldError[] = [];
  const programs = conditions.flatMap(({ name, expression }, index) => {
    const where = { path: `${path}[${index}].expression`, scope };
    const program = compileTo(expression.trim(), "bool", where);
    if (!("problem" in program)) return [{ name, program }];
    problems.push(invalid(where.path, expression.trim(), program.problem));
    return [];
  });
  return { programs, problems };
}

interface Where {
  readonly path: string;
  readonly scope: ReadonlyMap<string, CelType>;
}

function compileTo(text: string, result: ResultKind, { scope }: Where): Program | { problem: string } {
  const program = compileExpression(text, scope);
  if ("problem" in program) return { problem: `compilation failed: ${program.problem}` };
  const { kind } = program.type;
  const fits = result === "any" || kind === result || (result === "null" && kind === "string");
  return fits ? program : { problem: WRONG_TYPE[result] };
}
