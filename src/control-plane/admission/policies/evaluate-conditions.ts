import type { NamedProgram } from "../../cel/policies/compile-policy.ts";
import type { Program } from "../../cel/program.ts";
import type { CelValue } from "../../cel/values.ts";

/** What expressions read, and what they may still cost together. */
export interface EvaluationWork {
  budget: number;
  readonly read: (name: string) => CelValue | undefined;
}

/** What the conditions of a policy or webhook may cost together, as upstream limits it. */
export const CONDITIONS_BUDGET = 2_500_000;
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

/** Tells whether all conditions hold; one that does not outweighs the errors of others. */
export function meetsConditions(
  conditions: readonly NamedProgram[],
  work: EvaluationWork,
): boolean | { readonly error: string } {
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
