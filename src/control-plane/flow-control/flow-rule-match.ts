import type {
  FlowcontrolSubject,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
} from "../../api/gen/types.ts";
import type { AccessAttributes, PathAccess, ResourceAccess } from "../ports/request.ts";
import type { User } from "../ports/user.ts";

const ALL = "*";
const ACCOUNT_PREFIX = "system:serviceaccount:";

/** True when one of a flow schema's rules takes the request (`util/flowcontrol/rule.go`). */
export function takesRequest(rules: readonly PolicyRulesWithSubjects[], asked: AccessAttributes): boolean {
  return rules.some(({ subjects, resourceRules = [], nonResourceRules = [] }) => {
    if (!subjects.some((subject) => isSubject(subject, asked.user))) return false;
    if ("path" in asked) return nonResourceRules.some((rule) => takesPath(rule, asked));
    return resourceRules.some((rule) => takesResource(rule, asked));
  });
}

function isSubject({ kind, user, group, serviceAccount }: FlowcontrolSubject, { username, groups }: User): boolean {
  switch (kind) {
    case "User":
      return user !== undefined && (user.name === ALL || user.name === username);
    case "Group":
      return group !== undefined && (group.name === ALL || groups.includes(group.name));
    case "ServiceAccount": {
      if (serviceAccount === undefined) return false;
      const { namespace, name } = serviceAccount;
      if (name === ALL) return username.startsWith(`${ACCOUNT_PREFIX}${namespace}:`);
      return username === `${ACCOUNT_PREFIX}${namespace}:${name}`;
    }
    default:
      return false;
  }
}

function takesResource(rule: ResourcePolicyRule, { verb, group, resource, subresource, namespace }: ResourceAccess) {
  if (!has(rule.verbs, verb)) return false;
  if (!has(rule.resources, subresource === "" ? resource : `${resource}/${subresource}`)) return false;
  if (!has(rule.apiGroups, group)) return false;
  return namespace === "" ? rule.clusterScope === true : has(rule.namespaces ?? [], namespace);
}

/** A pattern is a path, or the path of a folder whose end may be `*`: each takes what is beneath it, too. */
function takesPath({ verbs, nonResourceURLs }: NonResourcePolicyRule, { verb, path }: PathAccess): boolean {
  if (!has(verbs, verb)) return false;
  return nonResourceURLs.some((pattern) => {
    if (pattern === ALL || pattern === path) return true;
    const folder = pattern.endsWith(ALL) ? pattern.slice(0, -1) : pattern;
    return path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
  });
}

/** The star is not among others: validation refuses it there. */
const has = (values: readonly string[], wanted: string) => values[0] === ALL || values.includes(wanted);
