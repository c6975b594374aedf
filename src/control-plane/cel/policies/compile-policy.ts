import type { FieldError } from "../../../api/field-error.ts";
import type {
  MatchCondition,
  MutatingAdmissionPolicySpec,
  ValidatingAdmissionPolicySpec,
  Validation,
} from "../../../api/gen/types.ts";
import { invalid } from "../../../api/validation/problems.ts";
import { compileExpression, type Program, type Vocabulary } from "../program.ts";
import { type CelType, formatType } from "../types.ts";
import { JSON_PATCHES, PATCH_OBJECT, PATCH_VOCABULARY } from "./patch-types.ts";
import { policyVariables } from "./policy-types.ts";

/** An expression that is known by a name: a variable, a condition, an annotation. */
export interface NamedProgram {
  readonly name: string;
  readonly program: Program;
}

/** What the expressions of policies of all kinds are compiled to. */
interface PolicyProgram {
  readonly variables: readonly NamedProgram[];
  readonly matchConditions: readonly NamedProgram[];
  /** The expressions that do not compile; they are not among the others. */
  readonly problems: readonly FieldError[];
}

/** The expressions of a ValidatingAdmissionPolicy, ready to evaluate. */
export interface ValidatingProgram extends PolicyProgram {
  readonly validations: readonly CompiledValidation[];
  /** By their keys. */
  readonly auditAnnotations: readonly NamedProgram[];
}

interface CompiledValidation {
  readonly validation: Validation;
  readonly program: Program;
  readonly message: Program | undefined;
}

/** The expressions of a MutatingAdmissionPolicy, ready to evaluate. */
export interface MutatingProgram extends PolicyProgram {
  readonly mutations: readonly CompiledMutation[];
}

export interface CompiledMutation {
  /** `apply` for an ApplyConfiguration, which lays an object over the request's; `json` for a JSONPatch. */
  readonly form: "apply" | "json";
  readonly program: Program;
}

type PolicySpec = Pick<ValidatingAdmissionPolicySpec, "variables" | "matchConditions" | "paramKind">;

/** Compiles all expressions of a policy that judges. */
export function compileValidatingPolicy(spec: ValidatingAdmissionPolicySpec): ValidatingProgram {
  const policy = beginPolicy(spec);
  const validations = (spec.validations ?? []).flatMap((validation, index) => {
    const path = `spec.validations[${index}]`;
    const program = policy.compile(validation.expression, BOOL, { path: `${path}.expression` });
    const message = validation.messageExpression?.trim()
      ? policy.compile(validation.messageExpression, STRING, { path: `${path}.messageExpression`, authorizer: false })
      : undefined;
    return program ? [{ validation, program, message }] : [];
  });
  const auditAnnotations = (spec.auditAnnotations ?? []).flatMap(({ key, valueExpression }, index) => {
    const path = `spec.auditAnnotations[${index}].valueExpression`;
    const program = policy.compile(valueExpression.trim(), STRING_OR_NULL, { path });
    return program ? [{ name: key, program }] : [];
  });
  return { ...policy.program, validations, auditAnnotations };
}

/** Compiles all expressions of a policy that changes objects. */
export function compileMutatingPolicy(spec: MutatingAdmissionPolicySpec): MutatingProgram {
  const policy = beginPolicy(spec);
  const mutations = (spec.mutations ?? []).flatMap(({ applyConfiguration, jsonPatch }, index): CompiledMutation[] => {
    const path = `spec.mutations[${index}]`;
    const compile = (form: "apply" | "json", text: string, at: string) => {
      const expected = form === "apply" ? OBJECT : PATCHES;
      const program = policy.compile(text.trim(), expected, { path: `${path}.${at}.expression`, ...PATCHING });
      return program ? [{ form, program }] : [];
    };
    return [
      ...(applyConfiguration ? compile("apply", applyConfiguration.expression ?? "", "applyConfiguration") : []),
      ...(jsonPatch ? compile("json", jsonPatch.expression ?? "", "jsonPatch") : []),
    ];
  });
  return { ...policy.program, mutations };
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
    const program = compileTo(expression.trim(), BOOL, { scope });
    if (!("problem" in program)) return [{ name, program }];
    problems.push(invalid(`${path}[${index}].expression`, expression.trim(), program.problem));
    return [];
  });
  return { programs, problems };
}

/** Compiles what policies of all kinds have. Each variable may use those before it; whatever follows may use all. */
function beginPolicy(spec: PolicySpec) {
  const problems: FieldError[] = [];
  const params = spec.paramKind !== undefined;
  const fields = new Map<string, CelType>();
  const variables: CelType | undefined = spec.variables?.length
    ? { kind: "object", name: "kubernetes.variables", fields }
    : undefined;
  const compile = (text: string, expected: Expected, { path, authorizer = true, vocabulary }: Where) => {
    const scope = policyVariables({ params, authorizer, ...(variables && { variables }) });
    const found = compileTo(text, expected, { scope, vocabulary });
    if (!("problem" in found)) return found;
    problems.push(invalid(path, text, found.problem));
    return undefined;
  };
  const named = (spec.variables ?? []).flatMap(({ name, expression }, index) => {
    const program = compile(expression, ANYTHING, { path: `spec.variables[${index}].expression` });
    if (program) fields.set(name, program.type);
    return program ? [{ name, program }] : [];
  });
  const conditions = compileMatchConditions(spec.matchConditions, "spec.matchConditions", params);
  problems.push(...conditions.problems);
  const program: PolicyProgram = { variables: named, matchConditions: conditions.programs, problems };
  return { compile, program };
}

interface Where {
  readonly path: string;
  /** The expression may ask what somebody may do. Default true. */
  readonly authorizer?: boolean;
  /** Types and functions beside those that all expressions have. */
  readonly vocabulary?: Vocabulary;
}

/** The types of which the value of an expression may be, by their names, and what is said otherwise. */
interface Expected {
  readonly types: readonly string[] | undefined;
  problem(found: string): string;
}

const ANYTHING: Expected = { types: undefined, problem: () => "" };
const BOOL: Expected = { types: ["bool"], problem: (found) => `must evaluate to bool but got ${found}` };
const STRING: Expected = { types: ["string"], problem: (found) => `must evaluate to string but got ${found}` };
const STRING_OR_NULL: Expected = {
  types: ["string", "null"],
  problem: (found) => `must evaluate to one of [string null_type] but got ${found}`,
};
const typeExpected = (type: CelType): Expected => {
  const name = formatType(type);
  return { types: [name], problem: (found) => `must evaluate to ${name} but got ${found}` };
};
const OBJECT = typeExpected(PATCH_OBJECT);
const PATCHES = typeExpected(JSON_PATCHES);
const PATCHING = { vocabulary: PATCH_VOCABULARY };

/** Types whose declared names are others than those in problems of types. */
const DECLARED_NAMES: Readonly<Record<string, string>> = {
  null: "null_type",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
};

interface Surroundings {
  readonly scope: ReadonlyMap<string, CelType>;
  readonly vocabulary?: Vocabulary | undefined;
}

function compileTo(
  text: string,
  expected: Expected,
  { scope, vocabulary }: Surroundings,
): Program | { problem: string } {
  const program = compileExpression(text, scope, vocabulary);
  if ("problem" in program) return { problem: `compilation failed: ${program.problem}` };
  const found = formatType(program.type);
  if (expected.types === undefined || expected.types.includes(found)) return program;
  return { problem: expected.problem(DECLARED_NAMES[found] ?? found) };
}
