import { isDeepStrictEqual } from "node:util";
import { aggregateRules } from "../../api/aggregate-rules.ts";
import type { ClusterRole, PolicyRule, Subject } from "../../api/gen/types.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { COMPONENT_ROLES, NAMESPACE_ROLES } from "./component-roles.ts";
import { CONTROLLER_ROLES } from "./controller-roles.ts";
import type { DefaultBinding, DefaultRole } from "./default-role.ts";
import { RBAC_GROUP } from "./policy-index.ts";
import { TooManyRulesError, uncoveredRules } from "./rule-cover.ts";
import { USER_ROLES } from "./user-roles.ts";

const API_VERSION = `${RBAC_GROUP}/v1`;
/** The annotation that a user sets to `false` to keep a changed default role as it is. */
const AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate";
const BOOTSTRAPPING = { "kubernetes.io/bootstrapping": "rbac-defaults" };
const ANNOTATIONS = { [AUTOUPDATE]: "true" };

const CLUSTER_ROLES: readonly DefaultRole[] = [...COMPONENT_ROLES, ...USER_ROLES, ...CONTROLLER_ROLES];

/**
 * The roles and bindings that every cluster begins with, roles first. They have upstream's names and rules, as far as
 * this control plane serves the resources. `admin`, `edit` and `view` already have the rules that aggregation gives
 * them.
 */
export const DEFAULT_POLICY: readonly KubeObject[] = [
  ...clusterRoles(),
  ...CLUSTER_ROLES.flatMap(({ name, subjects }) => {
    return subjects === undefined ? [] : [binding({ name, role: `ClusterRole/${name}`, subjects })];
  }),
  ...NAMESPACE_ROLES.flatMap(({ namespace, role, bindings }) => [
    { ...header("Role", role.name, namespace), rules: role.rules },
    ...bindings.map((entry) => binding(entry, namespace)),
  ]),
];

/**
 * Returns the object to write so that the cluster has the wanted one; undefined when nothing is missing. A missing
 * object is created. Rules and subjects that a user removed are restored, unless the annotation
 * `rbac.authorization.kubernetes.io/autoupdate: "false"` says otherwise. Additions by users stay.
 */
export function reconcilePolicy(existing: KubeObject | undefined, wanted: KubeObject): KubeObject | undefined {
  if (existing === undefined) return wanted;
  const { labels, annotations } = existing.metadata;
  if (annotations?.[AUTOUPDATE] === "false") return undefined;
  const metadata = {
    ...existing.metadata,
    labels: { ...wanted.metadata.labels, ...labels },
    annotations: { ...wanted.metadata.annotations, ...annotations },
  };
  const content = isRecord(wanted["roleRef"]) ? completeBinding(existing, wanted) : completeRole(existing, wanted);
  const next = { ...existing, ...content, metadata };
  return isDeepStrictEqual(next, existing) ? undefined : next;
}

/** The role with its missing rules. The rules of an aggregated role are left to the aggregation. */
function completeRole(existing: KubeObject, wanted: KubeObject): Record<string, unknown> {
  if (wanted["aggregationRule"] !== undefined) {
    return existing["aggregationRule"] === undefined ? { aggregationRule: wanted["aggregationRule"] } : {};
  }
  const rules = rulesIn(existing);
  const missing = missingRules(rules, rulesIn(wanted));
  return missing.length === 0 ? {} : { rules: [...rules, ...missing] };
}

/** A role that was made too large to be compared stays as it is: the start must not depend on it. */
function missingRules(existing: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  try {
    return uncoveredRules(existing, wanted);
  } catch (error) {
    if (error instanceof TooManyRulesError) return [];
    throw error;
  }
}

/**
 * The binding with its missing subjects. A binding of our name to another role belongs to the user, because a binding's
 * role cannot change.
 */
function completeBinding(existing: KubeObject, wanted: KubeObject): Record<string, unknown> {
  if (!isDeepStrictEqual(existing["roleRef"], wanted["roleRef"])) return {};
  const subjects = listIn(existing["subjects"]);
  const missing = listIn(wanted["subjects"]).filter(
    (subject) => !subjects.some((known) => isDeepStrictEqual(known, subject)),
  );
  return missing.length === 0 ? {} : { subjects: [...subjects, ...missing] };
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function rulesIn({ rules }: KubeObject): PolicyRule[] {
  const strings = (value: unknown) => listIn(value).filter((entry) => typeof entry === "string");
  return listIn(rules)
    .filter(isRecord)
    .map(({ verbs, ...rest }) => {
      const given = Object.entries(rest).map(([field, value]) => [field, strings(value)] as const);
      return { ...Object.fromEntries(given), verbs: strings(verbs) };
    });
}

function header(kind: string, name: string, namespace?: string, labels: Readonly<Record<string, string>> = {}) {
  const place = namespace === undefined ? {} : { namespace };
  const metadata = { name, ...place, labels: { ...BOOTSTRAPPING, ...labels }, annotations: ANNOTATIONS };
  return { apiVersion: API_VERSION, kind, metadata };
}

/**
 * The roles in order. A role that aggregates others comes after them, and has the rules that aggregation will give it.
 */
function clusterRoles(): KubeObject[] {
  const built: ClusterRole[] = [];
  return CLUSTER_ROLES.map(({ name, labels, rules = [], aggregates }) => {
    const object = header("ClusterRole", name, undefined, labels);
    const clusterRoleSelectors = aggregates?.map((label) => ({ matchLabels: { [label]: "true" } }));
    const role = clusterRoleSelectors ? { ...object, aggregationRule: { clusterRoleSelectors } } : object;
    const complete = { ...role, rules: aggregateRules(role, built) ?? [...rules] };
    built.push(complete);
    return complete;
  });
}

function binding({ name, role, subjects }: DefaultBinding, namespace?: string): KubeObject {
  const [kind = "", roleName = ""] = role.split("/");
  return {
    ...header(namespace === undefined ? "ClusterRoleBinding" : "RoleBinding", name, namespace),
    roleRef: { apiGroup: RBAC_GROUP, kind, name: roleName },
    subjects: subjects.map(subjectOf),
  };
}

/** The subject that a text like `Group/system:nodes`, `User/…` or `ServiceAccount/namespace/name` names. */
function subjectOf(text: string): Subject {
  const [kind = "", first = "", second] = text.split("/");
  if (kind !== "ServiceAccount") return { apiGroup: RBAC_GROUP, kind, name: first };
  return { kind, namespace: first, name: second ?? "" };
}
