import type { PolicyRule } from "../../api/gen/types.ts";
import { trimRight } from "../../base/trim-right.ts";
import type { AccessAttributes, PathAccess, ResourceAccess } from "../ports/request.ts";

const ALL = "*";

/** The part of a request that a rule is about: everything but the user. */
export type Action = Omit<ResourceAccess, "user"> | Omit<PathAccess, "user">;

/** True when the rule allows the action, as RBAC reads rules. */
export function ruleAllows(rule: PolicyRule, action: Action | AccessAttributes): boolean {
  if (!hasOrAll(rule.verbs, action.verb)) return false;
  if ("path" in action) return rule.nonResourceURLs?.some((pattern) => matchesPath(pattern, action.path)) === true;
  return (
    hasOrAll(rule.apiGroups, action.group) &&
    rule.resources?.some((resource) => matchesResource(resource, action)) === true &&
    matchesName(rule.resourceNames, action.name)
  );
}

/**
 * True when any of the rules allows the action. Kubernetes' node authorizer applies the rules of the `system:node` role
 * in this way.
 */
export function rulesAllow(rules: readonly PolicyRule[], action: Action | AccessAttributes): boolean {
  return rules.some((rule) => ruleAllows(rule, action));
}

function hasOrAll(values: readonly string[] | undefined, wanted: string): boolean {
  return values !== undefined && (values.includes(wanted) || values.includes(ALL));
}

/**
 * True when a rule's resource matches: all resources, `pods`, `pods/log`, or one subresource of every resource
 * ("all/scale"). All subresources of one resource cannot be written.
 */
function matchesResource(
  pattern: string,
  { resource, subresource }: Pick<ResourceAccess, "resource" | "subresource">,
): boolean {
  if (pattern === ALL) return true;
  if (subresource === "") return pattern === resource;
  return pattern === `${resource}/${subresource}` || pattern === `${ALL}/${subresource}`;
}

/** True when a rule's names match. A rule with names never matches a request without one (a list, a creation). */
function matchesName(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.length === 0 || names.includes(name);
}

/** True when the path equals the pattern or, with `*` at the pattern's end, begins with it. */
export function matchesPath(pattern: string, path: string): boolean {
  if (pattern === ALL || pattern === path) return true;
  return pattern.endsWith(ALL) && path.startsWith(trimRight(pattern, ALL));
}
