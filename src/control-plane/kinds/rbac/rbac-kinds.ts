import type { FieldError } from "../../../api/field-error.ts";
import type { AggregationRule, PolicyRule, RoleBinding, RoleRef, Subject } from "../../../api/gen/types.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { each, invalid, invalidEach, required, unsupported } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { checkPathSegment } from "../rules/path-segment.ts";
import { isSame } from "../rules/semantic-changes.ts";
import { strategyOf } from "../typed-strategy.ts";

const GROUP = "rbac.authorization.k8s.io";

/**
 * Names may contain characters that other objects' names may not, such as the colon in `system:node`. A PUT creates a
 * missing object.
 */
const COMMON = { checkName: checkPathSegment, createsOnUpdate: true };

const roleKind = defineKind({
  group: GROUP,
  kind: "Role",
  plural: "roles",
  strategy: strategyOf("Role", {
    ...COMMON,
    validate: ({ rules }) => each("rules", rules, (rule, path) => validateRule(rule, path, true)),
  }),
});

const clusterRoleKind = defineKind({
  group: GROUP,
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
  strategy: strategyOf("ClusterRole", {
    ...COMMON,
    validate: ({ rules, aggregationRule }) => [
      ...each("rules", rules, (rule, path) => validateRule(rule, path, false)),
      ...(aggregationRule ? validateAggregation("aggregationRule.clusterRoleSelectors", aggregationRule) : []),
    ],
  }),
});

const roleBindingKind = defineKind({
  group: GROUP,
  kind: "RoleBinding",
  plural: "rolebindings",
  strategy: strategyOf("RoleBinding", {
    ...COMMON,
    default: defaultBinding,
    validate: (binding) => validateBinding(binding, true),
    validateUpdate: (next, current) => validateRoleRefUpdate(next.roleRef, current.roleRef),
  }),
});

const clusterRoleBindingKind = defineKind({
  group: GROUP,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
  strategy: strategyOf("ClusterRoleBinding", {
    ...COMMON,
    default: defaultBinding,
    validate: (binding) => validateBinding(binding, false),
    validateUpdate: (next, current) => validateRoleRefUpdate(next.roleRef, current.roleRef),
  }),
});

/** The kinds of RBAC. Admission checks that no user grants permissions that the user does not have. */
export const RBAC_KINDS: readonly ResourceKind[] = [clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind];

function validateRule(rule: PolicyRule, path: string, isNamespaced: boolean): FieldError[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const errors = verbs.length === 0 ? [required(`${path}.verbs`, "verbs must contain at least one value")] : [];
  if (nonResourceURLs.length > 0) {
    const refuse = (detail: string) => errors.push(invalid(`${path}.nonResourceURLs`, nonResourceURLs, detail));
    if (isNamespaced) refuse("namespaced rules cannot apply to non-resource URLs");
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      refuse("rules cannot apply to both regular resources and non-resource URLs");
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

function defaultBinding({ roleRef, subjects = [] }: RoleBinding): void {
  roleRef.apiGroup ||= GROUP;
  for (const subject of subjects) {
    if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ||= GROUP;
  }
}

function validateBinding({ roleRef, subjects }: RoleBinding, isNamespaced: boolean): FieldError[] {
  const { apiGroup = "", kind, name } = roleRef;
  const kinds = isNamespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return [
    ...(apiGroup === GROUP ? [] : [unsupported("roleRef.apiGroup", apiGroup, [GROUP])]),
    ...(kinds.includes(kind) ? [] : [unsupported("roleRef.kind", kind, kinds)]),
    ...(name === "" ? [required("roleRef.name")] : invalidEach("roleRef.name", name, checkPathSegment(name))),
    ...each("subjects", subjects, (subject, path) => validateSubject(subject, path, isNamespaced)),
  ];
}

function validateSubject(subject: Subject, path: string, isNamespaced: boolean): FieldError[] {
  const { kind, name, apiGroup = "", namespace = "" } = subject;
  const errors = name === "" ? [required(`${path}.name`)] : [];
  switch (kind) {
    case "ServiceAccount":
      if (name !== "") errors.push(...invalidEach(`${path}.name`, name, checkDnsSubdomain(name)));
      if (apiGroup !== "") errors.push(unsupported(`${path}.apiGroup`, apiGroup, [""]));
      if (!isNamespaced && namespace === "") errors.push(required(`${path}.namespace`));
      return errors;
    case "User":
    case "Group":
      if (name === "") errors.push(invalid(`${path}.name`, name, `${kind.toLowerCase()} name cannot be empty`));
      if (apiGroup !== GROUP) errors.push(unsupported(`${path}.apiGroup`, apiGroup, [GROUP]));
      return errors;
    default:
      return [...errors, unsupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"])];
  }
}

/**
 * The problems of a changed role. If it could change, a user who may edit a binding's subjects could grant another role
 * than its author meant.
 */
function validateRoleRefUpdate(next: RoleRef, current: RoleRef): FieldError[] {
  return isSame(current, next) ? [] : [invalid("roleRef", next, "cannot change roleRef")];
}
