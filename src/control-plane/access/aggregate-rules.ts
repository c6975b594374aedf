import { isDeepStrictEqual } from "node:util";
import type { ClusterRole, LabelSelector, LabelSelectorRequirement, PolicyRule } from "../../api/gen/types.ts";

/**
 * The rules that an aggregated role is to have: those of the roles that its selectors name, in order of selector and
 * name, each once. Undefined for a role that is written by hand.
 */
export function aggregateRules(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] | undefined {
  const { clusterRoleSelectors } = role.aggregationRule ?? {};
  if (clusterRoleSelectors === undefined) return undefined;
  const byName = all.toSorted((a, b) => compareText(nameOf(a), nameOf(b)));
  const rules: PolicyRule[] = [];
  for (const selector of clusterRoleSelectors) {
    const selected = byName.filter((other) => nameOf(other) !== nameOf(role) && matches(selector, other));
    for (const rule of selected.flatMap((other) => other.rules ?? [])) {
      if (!rules.some((known) => isDeepStrictEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}

const nameOf = ({ metadata }: ClusterRole) => metadata?.name ?? "";
const compareText = (a: string, b: string) => (a < b ? -1 : Number(a > b));

function matches({ matchLabels = {}, matchExpressions = [] }: LabelSelector, { metadata }: ClusterRole): boolean {
  const labels: ReadonlyMap<string, string> = new Map(Object.entries(metadata?.labels ?? {}));
  return (
    Object.entries(matchLabels).every(([key, value]) => labels.get(key) === value) &&
    matchExpressions.every((requirement) => meets(requirement, labels.get(requirement.key)))
  );
}

/** An operator that is not known matches nothing: it must not widen a role. */
function meets({ operator, values = [] }: LabelSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}
