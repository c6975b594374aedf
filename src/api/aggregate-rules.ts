import { isDeepStrictEqual } from "node:util";
import type { ClusterRole, PolicyRule } from "./gen/types.ts";
import { labelSelectorOf } from "./selectors/label-selector.ts";

/**
 * Computes the rules that an aggregated role must have: those of the roles that its selectors name, in order of
 * selector and name, each once. Undefined for a role that is written by hand. The selectors have passed validation.
 */
export function aggregateRules(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] | undefined {
  const { clusterRoleSelectors } = role.aggregationRule ?? {};
  if (clusterRoleSelectors === undefined) return undefined;
  const byName = all.toSorted((a, b) => compareText(nameOf(a), nameOf(b)));
  const rules: PolicyRule[] = [];
  for (const selector of clusterRoleSelectors.map(labelSelectorOf)) {
    const selected = byName.filter(
      (other) => nameOf(other) !== nameOf(role) && selector.matches(other.metadata?.labels),
    );
    for (const rule of selected.flatMap((other) => other.rules ?? [])) {
      if (!rules.some((known) => isDeepStrictEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}

const nameOf = ({ metadata }: ClusterRole) => metadata?.name ?? "";
const compareText = (a: string, b: string) => (a < b ? -1 : Number(a > b));
