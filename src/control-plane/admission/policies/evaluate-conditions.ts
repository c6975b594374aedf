import type { NamedProgram } from "../../cel/policies/compile-policy.ts";
import type { Program } from "../../cel/program.ts";
import type { CelValue } from "../../cel/values.ts";
import { createActivation, type PolicyInput } from "./policy-activation.ts";

/** What expressions read, and what they may still cost together. */
export interface EvaluationWork {
  budget: number;
  readonly read: (name: string) => CelValue | undefined;
}

/** What the conditions of a policy or webhook may cost together, as upstream limits it. */
const CONDITIONS_BUDGET = 2_500_000;
/** What a policy may cost for one binding and one object of parameters, as upstream limits it. */
const POLICY_BUDGET = 10_000_000;
export const EXHAUSTED = "validation failed due to running out of cost budget, no further validation rules will be run";

type Outcome = { readonly value: CelValue } | { readonly error: string } | "exhausted";

/** Evaluates one expression at the cost of the work's budget. */
export function evaluateWithin(program: Program, work: EvaluationWork): Outcome {
  const result = program.evaluate(work.read);
  work.budget -= result.cost;
  if (work.budget < 0) return "exhausted";
  if (result.outcome === "value") return { value: result.value };
  return { error: `expression '${program.text}' resulted in error: ${result.message}` };
}

/** Begins the evaluation of a policy's expressions, which may read these variables. */
export function beginWork(
  input: PolicyInput,
  variables: readonly NamedProgram[],
  budget: number = POLICY_BUDGET,
): EvaluationWork {
  const spend = (cost: number) => {
    work.budget -= cost;
  };
  const work: EvaluationWork = { budget, read: createActivation({ ...input, variables, spend }) };
  return work;
}

/**
 * Tells whether all conditions of a policy or webhook hold; one that does not outweighs the errors of others. Conditions
 * read neither variables nor the namespace.
 */
export function meetsConditions(
  conditions: readonly NamedProgram[],
  input: Omit<PolicyInput, "namespace">,
): boolean | { readonly error: string } {
  if (conditions.length === 0) return true;
  const { request, params, authorize } = input;
  const work = beginWork({ request, params, authorize }, [], CONDITIONS_BUDGET);
  const errors: string[] = [];
  for (const { program } of conditions) {
    const outcome = evaluateWithin(program, work);
    if (outcome === "exhausted") return { error: EXHAUSTED };
    if ("error" in outcome) errors.push(outcome.error);
    else if (outcome.value === false) return false;
  }
  if (errors.length === 0) return true;
  return { error: errors.length === 1 ? errors.join("") : `[${errors.join(", ")}]` };
}
