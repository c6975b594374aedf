import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from "../../api/gen/types.ts";

/** All scopes to which an object must belong that a quota counts. */
export function scopesOf({
  scopes = [],
  scopeSelector,
}: ResourceQuotaSpec): readonly ScopedResourceSelectorRequirement[] {
  const plain = scopes.map((scopeName) => ({ scopeName, operator: "Exists" }));
  return [...plain, ...(scopeSelector?.matchExpressions ?? [])];
}

/** True when the requirement selects one of the object's names of the scope's sort, or that it has none. */
export function selectsOneOf(
  { operator, values = [] }: ScopedResourceSelectorRequirement,
  names: readonly string[],
): boolean {
  switch (operator) {
    case "Exists":
      return names.length > 0;
    case "DoesNotExist":
      return names.length === 0;
    case "In":
      return names.some((name) => values.includes(name));
    case "NotIn":
      return names.length === 0 || names.some((name) => !values.includes(name));
    default:
      return false;
  }
}
