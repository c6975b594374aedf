import type { PodCheck, SecuredPod, Violation } from "./secured-pod.ts";
import { SECURITY_CHECKS, type SecurityCheck } from "./security-checks.ts";
import type { SecurityStandard } from "./security-policy.ts";

/** The violations of the standard by the pod, in the order of upstream's messages. */
export function evaluatePod({ level, minor }: SecurityStandard, pod: SecuredPod): Violation[] {
  if (level === "privileged") return [];
  const version = minor === "latest" ? Number.POSITIVE_INFINITY : minor;
  const inForce = SECURITY_CHECKS.flatMap((check) => {
    const form = formOf(check, version);
    return form && (level === "restricted" || check.level === "baseline") ? [{ check, form }] : [];
  });
  const replaced = new Set(inForce.map(({ check }) => check.replaces));
  return inForce.flatMap(({ check, form }) => (replaced.has(check.id) ? [] : (form(pod) ?? [])));
}

function formOf({ forms }: SecurityCheck, version: number): PodCheck | undefined {
  return forms.findLast(([since]) => since <= version)?.[1];
}

/** The violations as a message about one object tells them: `host namespaces (hostNetwork=true), privileged (…)`. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${detail})`).join(", ");
}
