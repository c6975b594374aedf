import type { KubeObject } from "../../../api/object.ts";
import type { CompiledPolicy } from "../../cel/policies/compile-policy.ts";
import type { Program } from "../../cel/program.ts";
import type { CelValue } from "../../cel/values.ts";
import type { AdmissionRequest, Authorize } from "../../ports/request.ts";
import { createActivation } from "./policy-activation.ts";

/** A complaint of a policy about a request. */
export interface PolicyComplaint {
  readonly message: string;
  readonly reason: string;
}

interface PolicyInput {
  readonly request: AdmissionRequest;
  readonly namespace: KubeObject | undefined;
  readonly params: KubeObject | null;
  readonly authorize: Authorize;
  readonly failurePolicy: string;
}

/** What a policy may cost for one binding and one object of parameters, and its conditions, as upstream limits it. */
const POLICY_BUDGET = 10_000_000;
const CONDITIONS_BUDGET = 2_500_000;
const MAX_MESSAGE_BYTES = 5 * 1024;
const EXHAUSTED = "validation failed due to running out of cost budget, no further validation rules will be run";

type Outcome = { readonly value: CelValue } | { readonly error: string } | "exhausted";

interface Work {
  budget: number;
  readonly read: (name: string) => CelValue | undefined;
}

/** The complaints about the request; errors of the policy itself are complaints unless it says to ignore them. */
export function evaluatePolicy(policy: CompiledPolicy, input: PolicyInput): readonly PolicyComplaint[] {
  const fails = input.failurePolicy !== "Ignore";
  const onError = (message: string): PolicyComplaint[] => (fails ? [{ message, reason: "Invalid" }] : []);
  const [problem] = policy.problems;
  if (problem) return onError(problem.message);
  const conditions = beginWork(policy, input, CONDITIONS_BUDGET);
  const errors: string[] = [];
  for (const { program } of policy.matchConditions) {
    const outcome = evaluate(program, conditions);
    if (outcome === "exhausted") return onError(EXHAUSTED);
    if ("error" in outcome) errors.push(outcome.error);
    else if (outcome.value === false) return [];
  }
  if (errors.length > 0) return onError(errors.length === 1 ? (errors[0] ?? "") : `[${errors.join(", ")}]`);
  return judge(policy, beginWork(policy, input, POLICY_BUDGET), onError);
}

function beginWork({ variables }: CompiledPolicy, input: PolicyInput, budget: number): Work {
  const spend = (cost: number) => {
    work.budget -= cost;
  };
  const work: Work = { budget, read: createActivation({ ...input, variables, spend }) };
  return work;
}

function evaluate(program: Program, work: Work): Outcome {
  const result = program.evaluate(work.read);
  work.budget -= result.cost;
  if (work.budget < 0) return "exhausted";
  if (result.outcome === "value") return { value: result.value };
  return { error: `expression '${program.text}' resulted in error: ${result.message}` };
}

type OnError = (message: string) => PolicyComplaint[];

function judge({ validations, auditAnnotations }: CompiledPolicy, work: Work, onError: OnError): PolicyComplaint[] {
  const complaints: PolicyComplaint[] = [];
  for (const { validation, program, message } of validations) {
    const outcome = evaluate(program, work);
    if (outcome === "exhausted") return onError(EXHAUSTED);
    if ("error" in outcome) complaints.push(...onError(outcome.error));
    else if (outcome.value !== true) {
      const text = (message && messageOf(evaluate(message, work))) || validation.message?.trim();
      const shown = text || `failed expression: ${validation.expression.trim()}`;
      complaints.push({ message: shown, reason: validation.reason ?? "Invalid" });
    }
  }
  for (const { program } of auditAnnotations) {
    const outcome = evaluate(program, work);
    if (outcome === "exhausted") return [...complaints, ...onError(EXHAUSTED)];
    // There is no audit log here to write them to, but an error of one refuses the request as it does upstream.
    if ("error" in outcome) complaints.push(...onError(outcome.error));
  }
  return complaints;
}

/** The text of a message, where it is of use. */
function messageOf(outcome: Outcome): string | undefined {
  if (outcome === "exhausted" || "error" in outcome || typeof outcome.value !== "string") return undefined;
  const text = outcome.value.trim();
  return text.includes("\n") || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? undefined : text;
}
