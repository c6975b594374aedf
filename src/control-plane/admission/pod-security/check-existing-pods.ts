import type { Pod } from "../../../api/gen/types.ts";
import { evaluatePod } from "./evaluate-pod.ts";
import { securedPodOf } from "./pod-templates.ts";
import { type SecurityStandard, showStandard } from "./security-policy.ts";

/**
 * Upstream's bound: the write of a namespace judges no more than so many pods. Upstream stops after a second, too;
 * here, that many take a few milliseconds.
 */
const MAX_PODS = 3000;

/**
 * The warnings about a namespace's pods that violate the standard which it begins to enforce: they run on, and could
 * not be made again. Pods with the same violations share a line, under the first of their names.
 */
export function checkExistingPods(namespace: string, standard: SecurityStandard, pods: readonly Pod[]): string[] {
  const checked = oneOfEachOwnerFirst(pods).slice(0, MAX_PODS);
  const named = new Map<string, string[]>();
  for (const pod of checked) {
    const violations = evaluatePod(standard, securedPodOf(pod));
    if (violations.length === 0) continue;
    const reasons = violations.map(({ reason }) => reason).join(", ");
    named.set(reasons, [...(named.get(reasons) ?? []), pod.metadata?.name ?? ""]);
  }
  const warnings: string[] = [];
  if (checked.length < pods.length) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${checked.length} of ${pods.length} existing pods`,
    );
  }
  if (named.size > 0) {
    const shown = showStandard(standard);
    warnings.push(`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${shown}"`);
  }
  return [...warnings, ...[...named].map(([reasons, names]) => `${nameSome(names)}: ${reasons}`).sort()];
}

function nameSome(names: string[]): string {
  const [first = "", ...others] = names.sort();
  if (others.length === 0) return first;
  return `${first} (and ${others.length} other ${others.length === 1 ? "pod" : "pods"})`;
}

/** The pods of one controller are alike, so that the bound leaves the others of its pods out first. */
function oneOfEachOwnerFirst(pods: readonly Pod[]): Pod[] {
  const owners = new Set<string>();
  const first: Pod[] = [];
  const rest: Pod[] = [];
  for (const pod of pods) {
    const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller)?.uid;
    if (owner !== undefined && owners.has(owner)) {
      rest.push(pod);
      continue;
    }
    first.push(pod);
    if (owner !== undefined) owners.add(owner);
  }
  return [...first, ...rest];
}
