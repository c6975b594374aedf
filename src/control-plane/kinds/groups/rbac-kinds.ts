import type { FieldError } from "../../../api/field-error.ts";
import type { AggregationRule, PolicyRule, RoleBinding, RoleRef, Subject } from "../../../api/gen/types.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { each, invalid, invalidEach, required, unsupported } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { isSame } from "../core/semantic-changes.ts";
import { defineKind } from "../define-kind.ts";
import { validateLabelSelector } from "./label-selector.ts";
import { checkPathSegment } from "./path-segment.ts";
import { strategyOf, type TypedStrategy } from "./typed-strategy.ts";

const GROUP = "rbac.authorization.k8s.io";

const ROLES = defineKind({
  group: GROUP,
  kind: "Role",
  plural: "roles",
  strategy: strategyOf("Role", {
    createsOnUpdate: true,
    checkName: checkPathSegment,
    validate: ({ rules }) => each("rules", rules, (rule, path) => validateRule(path, rule, true)),
  }),
});

const CLUSTER_ROLES = defineKind({
  group: GROUP,
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
  strategy: strategyOf("ClusterRole", {
    createsOnUpdate: true,
    checkName: checkPathSegment,
    validate: ({ rules, aggregationRule }) => [
      ...each("rules", rules, (rule, path) => validateRule(path, rule, false)),
      ...(aggregationRule ? validateAggregation("aggregationRule.clusterRoleSelectors", aggregationRule) : []),
    ],
  }),
});

const ROLE_BINDINGS = defineKind({
  group: GROUP,
  kind: "RoleBinding",
  plural: "rolebindings",
  strategy: strategyOf("RoleBinding", bindingStrategy({ namespaced: true })),
});

const CLUSTER_ROLE_BINDINGS = defineKind({
  group: GROUP,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
  strategy: strategyOf("ClusterRoleBinding", bindingStrategy({ namespaced: false })),
});

/** Who may do what. That nobody gives away more than they have is checked where the request is authorized. */
export const RBAC_KINDS: readonly ResourceKind[] = [ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS];

function validateRule(path: string, rule: PolicyRule, namespaced: boolean): FieldError[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const errors = verbs.length === 0 ? [required(`${path}.verbs`, "verbs must contain at least one value")] : [];
  if (nonResourceURLs.length > 0) {
    const at = `${path}.nonResourceURLs`;
    if (namespaced) {
      errors.push(invalid(at, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs"));
    }
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      const detail = "rules cannot apply to both regular resources and non-resource URLs";
      errors.push(invalid(at, nonResourceURLs, detail));
    }
    return errors;
  }
  if (apiGroups.length === 0) {
    errors.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
  }
  if (resources.length === 0) {
    errors.push(required(`${path}.resources`, "resource rules must supply at least one resource"));
  }
  return errors;
}

function validateAggregation(path: string, { clusterRoleSelectors = [] }: AggregationRule): FieldError[] {
  if (clusterRoleSelectors.length === 0) {
    return [required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  }
  return each(path, clusterRoleSelectors, (selector, at) => validateLabelSelector(at, selector));
}

/** The two kinds of bindings differ in where they hold. */
function bindingStrategy({
  namespaced,
}: {
  namespaced: boolean;
}): TypedStrategy<"RoleBinding"> & TypedStrategy<"ClusterRoleBinding"> {
  return {
    createsOnUpdate: true,
    checkName: checkPathSegment,
    default: defaultBinding,
    validate: ({ roleRef, subjects }) => [
      ...validateRoleRef(roleRef, namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"]),
      ...each("subjects", subjects, (subject, path) => validateSubject(path, subject, namespaced)),
    ],
    validateUpdate(next: RoleBinding, current: RoleBinding) {
      if (isSame(current.roleRef, next.roleRef)) return [];
      return [invalid("roleRef", next.roleRef, "cannot change roleRef")];
    },
  };
}

function defaultBinding({ roleRef, subjects }: RoleBinding): void {
  roleRef.apiGroup ||= GROUP;
  for (const subject of subjects ?? []) {
    if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ||= GROUP;
  }
}

function validateRoleRef({ apiGroup, kind, name }: RoleRef, kinds: readonly string[]): FieldError[] {
  return [
    ...(apiGroup === GROUP ? [] : [unsupported("roleRef.apiGroup", apiGroup, [GROUP])]),
    ...(kinds.includes(kind) ? [] : [unsupported("roleRef.kind", kind, kinds)]),
    ...(name === "" ? [required("roleRef.name")] : invalidEach("roleRef.name", name, checkPathSegment(name))),
  ];
}

function validateSubject(path: string, subject: Subject, namespaced: boolean): FieldError[] {
  const { kind, name, apiGroup = "", namespace = "" } = subject;
  const errors = name === "" ? [required(`${path}.name`)] : [];
  switch (kind) {
    case "ServiceAccount":
      if (name !== "") errors.push(...invalidEach(`${path}.name`, name, checkDnsSubdomain(name)));
      if (apiGroup !== "") errors.push(unsupported(`${path}.apiGroup`, apiGroup, [""]));
      if (!namespaced && namespace === "") errors.push(required(`${path}.namespace`));
      return errors;
    case "User":
    case "Group":
      return apiGroup === GROUP ? errors : [...errors, unsupported(`${path}.apiGroup`, apiGroup, [GROUP])];
    default:
      return [...errors, unsupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"])];
  }
}
