import { trimRight } from "../../base/trim-right.ts";
import type { AccessAttributes, ResourceAccess } from "../ports/request.ts";
import type { AuditPolicy, AuditRule } from "./audit-policy.ts";

/** The first rule of the policy that is about the request; undefined where nothing of it is recorded. */
export function findAuditRule({ rules }: AuditPolicy, attributes: AccessAttributes): AuditRule | undefined {
  const rule = rules.find((each) => matches(each, attributes));
  return rule?.level === "None" ? undefined : rule;
}

function matches(rule: AuditRule, attributes: AccessAttributes): boolean {
  const { user, verb } = attributes;
  if (!allows(rule.users, user.username) || !allows(rule.verbs, verb)) return false;
  if (rule.userGroups.length > 0 && !user.groups.some((group) => rule.userGroups.includes(group))) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) {
    return "resource" in attributes && matchesResource(rule, attributes);
  }
  if (rule.nonResourceURLs.length === 0) return true;
  return "path" in attributes && rule.nonResourceURLs.some((url) => matchesPath(url, attributes.path));
}

/** A list that is empty allows whatever it is about. */
const allows = (list: readonly string[], value: string) => list.length === 0 || list.includes(value);

function matchesPath(url: string, path: string): boolean {
  if (url === "*" || url === path) return true;
  return url.endsWith("*") && path.startsWith(trimRight(url, "*"));
}

function matchesResource(rule: AuditRule, { group, resource, subresource, namespace, name }: ResourceAccess): boolean {
  if (!allows(rule.namespaces, namespace)) return false;
  if (rule.resources.length === 0) return true;
  const combined = subresource === "" ? resource : `${resource}/${subresource}`;
  return rule.resources.some((each) => {
    if (each.group !== group && each.group !== "*") return false;
    if (each.resources.length === 0) return true;
    if (!allows(each.resourceNames, name)) return false;
    return each.resources.some((named) => {
      if (named === "*" || named === combined || named === `${resource}/*`) return true;
      return subresource !== "" && named === `*/${subresource}`;
    });
  });
}
