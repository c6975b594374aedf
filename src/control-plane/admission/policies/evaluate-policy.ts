import type { ValidatingProgram } from "../../cel/policies/compile-policy.ts";
import { beginWork, type EvaluationWork, EXHAUSTED, evaluateWithin, meetsConditions } from "./evaluate-conditions.ts";
import type { PolicyInput } from "./policy-activation.ts";

/** A complaint of a policy about a request. */
export interface PolicyComplaint {
  readonly message: string;
  readonly reason: string;
}

const MAX_MESSAGE_BYTES = 5 * 1024;

/** The complaints about the request; errors of the policy itself are complaints unless it says to ignore them. */
export function evaluatePolicy(
  policy: ValidatingProgram,
  { failurePolicy, ...input }: PolicyInput & { readonly failurePolicy: string },
): readonly PolicyComplaint[] {
  const fails = failurePolicy !== "Ignore";
  const onError = (message: string): PolicyComplaint[] => (fails ? [{ message, reason: "Invalid" }] : []);
  const [problem] = policy.problems;
  if (problem) return onError(problem.message);
  const met = meetsConditions(policy.matchConditions, input);
  if (met === false) return [];
  if (met !== true) return onError(met.error);
  return judge(policy, beginWork(input, policy.variables), onError);
}

type OnError = (message: string) => PolicyComplaint[];

function judge(
  { validations, auditAnnotations }: ValidatingProgram,
  work: EvaluationWork,
  onError: OnError,
): PolicyComplaint[] {
  const complaints: PolicyComplaint[] = [];
  for (const { validation, program, message } of validations) {
    const outcome = evaluateWithin(program, work);
    if (outcome === "exhausted") return onError(EXHAUSTED);
    if ("error" in outcome) complaints.push(...onError(outcome.error));
    else if (outcome.value !== true) {
      const text = (message && messageOf(evaluateWithin(message, work))) || validation.message?.trim();
      const shown = text || `failed expression: ${validation.expression.trim()}`;
      complaints.push({ message: shown, reason: validation.reason ?? "Invalid" });
    }
  }
  for (const { program } of auditAnnotations) {
    const outcome = evaluateWithin(program, work);
    if (outcome === "exhausted") return [...complaints, ...onError(EXHAUSTED)];
    // There is no audit log here to write them to, but an error of one refuses the request as it does upstream.
    if ("error" in outcome) complaints.push(...onError(outcome.error));
  }
  return complaints;
}

/** The text of a message, where it is of use. */
function messageOf(outcome: ReturnType<typeof evaluateWithin>): string | undefined {
  if (outcome === "exhausted" || "error" in outcome || typeof outcome.value !== "string") return undefined;
  const text = outcome.value.trim();
  return text.includes("\n") || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? undefined : text;
}
