import type { FieldError } from "../../../api/field-error.ts";
import type {
  FlowcontrolSubject,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
} from "../../../api/gen/types.ts";
import { checkDnsLabel, checkDnsSubdomain } from "../../../api/validation/names.ts";
import { each, forbidden, invalid, invalidEach, required, unsupported } from "../../../api/validation/problems.ts";

const ALL = "*";
const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
/** The field that each kind of subject has, which is the only one that it may have. */
const SUBJECT_FIELDS = { ServiceAccount: "serviceAccount", User: "user", Group: "group" } as const;
const NAMESPACE_RULE = "each member of this list must be '*' or a DNS-1123 label; ";

/** The problems of a rule about whose requests a schema takes. */
export function validateFlowRule(rule: PolicyRulesWithSubjects, path: string): FieldError[] {
  const { subjects, resourceRules = [], nonResourceRules = [] } = rule;
  const isEmpty = resourceRules.length === 0 && nonResourceRules.length === 0;
  const detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
  const at = `${path}.subjects`;
  return [
    ...(subjects.length === 0 ? [required(at, "subjects must contain at least one value")] : []),
    ...each(at, subjects, validateSubject),
    ...(isEmpty ? [required(path, detail)] : []),
    ...each(`${path}.resourceRules`, resourceRules, validateResourceRule),
    ...each(`${path}.nonResourceRules`, nonResourceRules, validateUrlRule),
  ];
}

function validateSubject(subject: FlowcontrolSubject, path: string): FieldError[] {
  const { kind } = subject;
  if (kind !== "ServiceAccount" && kind !== "User" && kind !== "Group") {
    return [unsupported(`${path}.kind`, kind, ["Group", "ServiceAccount", "User"])];
  }
  const others = (["ServiceAccount", "User", "Group"] as const).filter((other) => other !== kind);
  return [
    ...validateNamed(subject, kind, path),
    ...others.flatMap((other) => {
      const field = SUBJECT_FIELDS[other];
      if (subject[field] === undefined) return [];
      return [forbidden(`${path}.${field}`, `${field} is forbidden when subject kind is not '${other}'`)];
    }),
  ];
}

function validateNamed(subject: FlowcontrolSubject, kind: keyof typeof SUBJECT_FIELDS, path: string): FieldError[] {
  const field = SUBJECT_FIELDS[kind];
  const at = `${path}.${field}`;
  const named = subject[field];
  if (named === undefined) return [required(at, `${field} is required when subject kind is '${kind}'`)];
  const errors = named.name === "" ? [required(`${at}.name`)] : [];
  return subject.serviceAccount && kind === "ServiceAccount"
    ? [...errors, ...validateAccount(subject.serviceAccount, at)]
    : errors;
}

function validateAccount({ name, namespace }: ServiceAccountSubject, path: string): FieldError[] {
  const hasRule = name !== "" && name !== ALL;
  const errors = hasRule ? invalidEach(`${path}.name`, name, checkDnsSubdomain(name)) : [];
  const at = `${path}.namespace`;
  if (namespace === "") return [...errors, required(at, "must specify namespace for service account")];
  return [...errors, ...invalidEach(at, namespace, checkDnsLabel(namespace))];
}

function validateVerbs(verbs: string[], path: string): FieldError[] {
  const at = `${path}.verbs`;
  if (verbs.length === 0) return [required(at, "verbs must contain at least one value")];
  if (verbs.includes(ALL)) return onlyAll(at, verbs, "verbs");
  return verbs.every((verb) => VERBS.includes(verb)) ? [] : [unsupported(at, verbs, VERBS)];
}

/** A problem where `*` has others beside it. */
function onlyAll(path: string, values: string[], what: string): FieldError[] {
  if (values.length <= 1 || !values.includes(ALL)) return [];
  return [invalid(path, values, `if '*' is present, must not specify other ${what}`)];
}

function validateUrlRule({ verbs, nonResourceURLs }: NonResourcePolicyRule, path: string): FieldError[] {
  const errors = validateVerbs(verbs, path);
  const at = `${path}.nonResourceURLs`;
  if (nonResourceURLs.length === 0) {
    return [...errors, required(at, "nonResourceURLs must contain at least one value")];
  }
  if (nonResourceURLs.includes(ALL)) return [...errors, ...onlyAll(at, nonResourceURLs, "non-resource URLs")];
  return [...errors, ...each(at, nonResourceURLs, validateUrl)];
}

function validateUrl(url: string, path: string): FieldError[] {
  const problem = whyNoUrl(url);
  return problem === undefined ? [] : [invalid(path, url, problem)];
}

function whyNoUrl(url: string): string | undefined {
  if (url === "") return "must not be empty";
  if (!url.startsWith("/")) return "must start with slash";
  if (url.includes(" ")) return "must not contain white-space";
  if (url.includes("//")) return "must not contain double slash";
  const star = url.indexOf(ALL);
  return star === -1 || (star === url.length - 1 && url.endsWith("/*"))
    ? undefined
    : "wildcard can only do suffix matching";
}

function validateResourceRule(rule: ResourcePolicyRule, path: string): FieldError[] {
  const { verbs, apiGroups, resources, namespaces = [], clusterScope = false } = rule;
  const [groupsAt, resourcesAt] = [`${path}.apiGroups`, `${path}.resources`];
  return [
    ...validateVerbs(verbs, path),
    ...(apiGroups.length === 0 ? [required(groupsAt, "resource rules must supply at least one api group")] : []),
    ...onlyAll(groupsAt, apiGroups, "api groups"),
    ...(resources.length === 0 ? [required(resourcesAt, "resource rules must supply at least one resource")] : []),
    ...onlyAll(resourcesAt, resources, "resources"),
    ...validateNamespaces(`${path}.namespaces`, namespaces, clusterScope),
  ];
}

function validateNamespaces(path: string, namespaces: string[], clusterScope: boolean): FieldError[] {
  if (namespaces.length === 0 && !clusterScope) {
    const detail = "resource rules that are not cluster scoped must supply at least one namespace";
    return [required(path, detail)];
  }
  if (namespaces.includes(ALL)) return onlyAll(path, namespaces, "namespaces");
  return each(path, namespaces, (name, at) => {
    return invalidEach(
      at,
      name,
      checkDnsLabel(name).map((problem) => `${NAMESPACE_RULE}${problem}`),
    );
  });
}
