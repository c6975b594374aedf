import type { ValidatingProgram } from "../../cel/policies/compile-policy.ts";
import { beginWork, type EvaluationWork, EXHAUSTED, evaluateWithin, meetsConditions } from "./evaluate-conditions.ts";
import type { PolicyInput } from "./policy-activation.ts";

/** A complaint of a policy about a request. */
export interface PolicyComplaint {
  readonly message: string;
  readonly reason: string;
  /** The place of the validation in the policy; 0 for a problem of the policy itself. */
  readonly index: number;
}

/** What a policy finds in a request. */
interface PolicyFindings {
  readonly complaints: readonly PolicyComplaint[];
  /** For the audit log, by the annotations' keys. */
  readonly annotations: ReadonlyArray<readonly [key: string, value: string]>;
}

const MAX_MESSAGE_BYTES = 5 * 1024;

/** What it finds; errors of the policy itself are complaints unless it says to ignore them. */
export function evaluatePolicy(
  policy: ValidatingProgram,
  { failurePolicy, ...input }: PolicyInput & { readonly failurePolicy: string },
): PolicyFindings {
  const fails = failurePolicy !== "Ignore";
  const onError: OnError = (message, index = 0) => (fails ? [{ message, reason: "Invalid", index }] : []);
  const only = (complaints: readonly PolicyComplaint[]) => ({ complaints, annotations: [] });
  const [problem] = policy.problems;
  if (problem) return only(onError(problem.message));
  const met = meetsConditions(policy.matchConditions, input);
  if (met === false) return only([]);
  if (met !== true) return only(onError(met.error));
  const work = beginWork(input, policy.variables);
  const judged = judge(policy, work, onError);
  return judged.isExhausted ? only(judged.complaints) : annotate(policy, work, { ...judged, onError });
}

type OnError = (message: string, index?: number) => PolicyComplaint[];

function judge({ validations }: ValidatingProgram, work: EvaluationWork, onError: OnError) {
  const complaints: PolicyComplaint[] = [];
  for (const [index, { validation, program, message }] of validations.entries()) {
    const outcome = evaluateWithin(program, work);
    if (outcome === "exhausted") return { complaints: onError(EXHAUSTED, index), isExhausted: true };
    if ("error" in outcome) complaints.push(...onError(outcome.error, index));
    else if (outcome.value !== true) {
      const text = (message && messageOf(evaluateWithin(message, work))) || validation.message?.trim();
      const shown = text || `failed expression: ${validation.expression.trim()}`;
      complaints.push({ message: shown, reason: validation.reason ?? "Invalid", index });
    }
  }
  return { complaints, isExhausted: false };
}

/** Adds the annotations, of which an error refuses the request as a validation's does. */
function annotate(
  { auditAnnotations }: ValidatingProgram,
  work: EvaluationWork,
  { complaints, onError }: { readonly complaints: readonly PolicyComplaint[]; readonly onError: OnError },
): PolicyFindings {
  const all = [...complaints];
  const annotations: Array<readonly [string, string]> = [];
  for (const { name, program } of auditAnnotations) {
    const outcome = evaluateWithin(program, work);
    if (outcome === "exhausted") return { complaints: [...all, ...onError(EXHAUSTED)], annotations };
    if ("error" in outcome) all.push(...onError(outcome.error));
    else if (typeof outcome.value === "string") {
      const value = outcome.value.trim();
      if (value !== "") annotations.push([name, value]);
    }
  }
  return { complaints: all, annotations };
}

/** The text of a message, where it is of use. */
function messageOf(outcome: ReturnType<typeof evaluateWithin>): string | undefined {
  if (outcome === "exhausted" || "error" in outcome || typeof outcome.value !== "string") return undefined;
  const text = outcome.value.trim();
  return text.includes("\n") || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? undefined : text;
}
