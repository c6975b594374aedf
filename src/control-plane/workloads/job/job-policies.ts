import type {
  Job,
  Pod,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from "../../../api/gen/types.ts";
import { countCommonIndexes, countIndexes, type IndexIntervals, parseIndexes } from "./completion-indexes.ts";

/** What a job's failure policy says of a pod that failed. */
interface FailureVerdict {
  /** Undefined where no rule fits. */
  readonly action?: string;
  /** False for a failure that the job may repeat as often as it likes. */
  readonly isCounted: boolean;
  /** Why the job fails as a whole. */
  readonly failsJob?: string;
}

/** Judges a failed pod by the first rule that fits; without one the failure counts. */
export function judgeFailure(policy: PodFailurePolicy | undefined, pod: Pod): FailureVerdict {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const cause = causeOf(rule, pod);
    if (cause === undefined) continue;
    const { action } = rule;
    if (action === "Ignore") return { action, isCounted: false };
    if (action === "FailIndex" || action === "Count") return { action, isCounted: true };
    const failsJob = `${cause} matching ${action} rule at index ${index}`;
    if (action === "FailJob") return { action, isCounted: true, failsJob };
  }
  return { isCounted: true };
}

/** What fits the rule, in upstream's words. */
function causeOf({ onExitCodes, onPodConditions }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const { metadata = {}, status = {} } = pod;
  const name = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes !== undefined) {
    const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
    const found = statuses.find((container) => {
      const isNamed = onExitCodes.containerName === undefined || onExitCodes.containerName === container.name;
      return isNamed && fitsExitCode(onExitCodes, container.state?.terminated?.exitCode ?? 0);
    });
    const code = found?.state?.terminated?.exitCode;
    return found && `Container ${found.name} for pod ${name} failed with exit code ${code}`;
  }
  const condition = status.conditions?.find((held) =>
    onPodConditions?.some((wanted) => wanted.type === held.type && (wanted.status ?? "True") === held.status),
  );
  return condition && `Pod ${name} has condition ${condition.type}`;
}

function fitsExitCode({ operator, values }: PodFailurePolicyOnExitCodesRequirement, code: number): boolean {
  if (code === 0) return false;
  return operator === "In" ? values.includes(code) : operator === "NotIn" && !values.includes(code);
}

/** The message of the first rule by which the job has succeeded already; undefined where none is met. */
export function metSuccessRule({ spec }: Job, succeeded: IndexIntervals): string | undefined {
  if (succeeded.length === 0) return undefined;
  const index = (spec?.successPolicy?.rules ?? []).findIndex((rule) => isMet(rule, succeeded, spec?.completions ?? 0));
  return index < 0 ? undefined : `Matched rules at index ${index}`;
}

function isMet(rule: SuccessPolicyRule, succeeded: IndexIntervals, completions: number): boolean {
  const { succeededCount, succeededIndexes } = rule;
  if (succeededIndexes === undefined) return succeededCount !== undefined && countIndexes(succeeded) >= succeededCount;
  const required = parseIndexes(succeededIndexes, completions);
  if (required.length === 0) return false;
  const common = countCommonIndexes(required, succeeded);
  return common === countIndexes(required) || (succeededCount !== undefined && common >= succeededCount);
}
