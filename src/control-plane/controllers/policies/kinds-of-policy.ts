import type { MatchResources } from "../../../api/gen/types.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";

/** A policy is checked with no more kinds than this, as upstream limits it for each rule. */
const MAX_CHECKED_KINDS = 10;

/**
 * The kinds that a policy names in its rules, by group, version and kind. A rule with a wildcard in its groups or
 * versions names none, and neither does a subresource.
 */
export function kindsOfPolicy(
  { resourceRules = [] }: MatchResources,
  kinds: readonly ResourceKind[],
): readonly ResourceKind[] {
  const named = new Set<ResourceKind>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of resourceRules) {
    if ([...apiGroups, ...apiVersions].some((text) => text.includes("*"))) continue;
    const groups = new Set(apiGroups);
    const versions = new Set(apiVersions);
    const plurals = new Set(resources.filter((resource) => !/[*/]/.test(resource)));
    for (const kind of kinds) {
      const isServed = kind.verbs.length > 0;
      if (isServed && groups.has(kind.group) && versions.has(kind.version) && plurals.has(kind.plural)) named.add(kind);
    }
  }
  return [...named].sort(byName).slice(0, MAX_CHECKED_KINDS);
}

function byName(a: ResourceKind, b: ResourceKind): number {
  return compare(a.group, b.group) || compare(a.version, b.version) || compare(a.kind, b.kind);
}

const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);
