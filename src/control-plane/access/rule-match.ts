import type { PolicyRule } from "../../api/gen/types.ts";
import type { AccessAttributes, PathAccess, ResourceAccess } from "../ports/request.ts";

const ALL = "*";

/** The part of a request that a rule speaks about: without who makes it. */
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
 * True when any of the rules allows the action. What Kubernetes' node authorizer does with the rules of the
 * `system:node` role.
 */
export function rulesAllow(rules: readonly PolicyRule[], action: Action | AccessAttributes): boolean {
  return rules.some((rule) => ruleAllows(rule, action));
}

function hasOrAll(values: readonly string[] | undefined, wanted: string): boolean {
  return values !== undefined && (values.includes(wanted) || values.includes(ALL));
}

/** All, `pods`, `pods/log`, or the subresource of every resource, as in "all/scale". There is no "all of pods/". */
function matchesResource(
  pattern: string,
  { resource, subresource }: Pick<ResourceAccess, "resource" | "subresource">,
): boolean {
  if (pattern === ALL) return true;
  if (subresource === "") return pattern === resource;
  return pattern === `${resource}/${subresource}` || pattern === `${ALL}/${subresource}`;
}

/** A rule that names objects never fits a request that names none: a list, a creation. */
function matchesName(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.length === 0 || names.includes(name);
}

/** Exactly so, or with `*` at the end everything that begins so. */
export function matchesPath(pattern: string, path: string): boolean {
  if (pattern === ALL || pattern === path) return true;
  return pattern.endsWith(ALL) && path.startsWith(pattern.replace(/\*+$/, ""));
}
