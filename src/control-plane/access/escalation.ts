import { isDeepStrictEqual } from "node:util";
import { forbiddenError, notFoundError } from "../../api/api-error.ts";
import type { AggregationRule, PolicyRule } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import type { User } from "../ports/user.ts";
import { RBAC_GROUP } from "./policy-index.ts";
import { type Authorizer, formatResolutionErrors } from "./rbac.ts";
import { compactRules, formatRule, formatStrings, TooManyRulesError, uncoveredRules } from "./rule-cover.ts";

const SUPERUSERS = "system:masters";
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];
const AGGREGATION_REFUSED = "must have cluster-admin privileges to use the aggregationRule";

/** The part of an authorizer that the checks use. */
type EscalationAuthorizer = Pick<Authorizer, "authorize" | "rulesFor" | "rulesOf">;

/** A write of a role or binding by a user. */
interface PolicyWrite {
  readonly user: User;
  readonly object: KubeObject;
  /** The object before the write; undefined on creation. */
  readonly current: KubeObject | undefined;
}

/**
 * Refuses users who grant permissions that they do not have. The check is a step of admission because it must see the
 * object as it will be stored; upstream does it in the storage of each kind.
 */
export function createEscalationCheck(authorizer: EscalationAuthorizer): AdmissionPlugin {
  return {
    name: "RBACEscalation",
    validate({ kind, subresource, operation, user, object, current }: AdmissionRequest) {
      const isWritten = operation === "CREATE" || operation === "UPDATE";
      if (kind.group !== RBAC_GROUP || subresource !== "" || !isWritten || object === undefined) return;
      if (object.kind === "Role" || object.kind === "ClusterRole") {
        checkRoleEscalation(authorizer, { user, object, current });
      }
      if (object.kind === "RoleBinding" || object.kind === "ClusterRoleBinding") {
        checkBindingEscalation(authorizer, { user, object, current });
      }
    },
  };
}

/**
 * Throws Forbidden when the role grants permissions that its author does not hold, unless the author may `escalate`
 * roles. An aggregated role can come to grant everything, so its author must hold all permissions.
 */
export function checkRoleEscalation(authorizer: EscalationAuthorizer, write: PolicyWrite): void {
  const { user, object, current } = write;
  const isCluster = object.kind === "ClusterRole";
  const resource = isCluster ? "clusterroles" : "roles";
  if (isExempt(write) || mayUse(authorizer, write, { verb: "escalate", resource, name: nameOf(object) })) return;
  const namespace = namespaceOf(object);
  const role = isCluster ? typed("ClusterRole", object) : typed("Role", object);
  confirmHeld(authorizer, { user, namespace, rules: role.rules ?? [] }, { resource, name: nameOf(object) });
  const aggregations = [object, current].map((one) => one && aggregationOf(one));
  if (aggregations.some((aggregation) => (aggregation?.clusterRoleSelectors?.length ?? 0) > 0)) {
    if (uncoveredRules(authorizer.rulesFor(user, "").rules, EVERYTHING).length === 0) return;
    throw forbiddenError({ group: RBAC_GROUP, resource }, nameOf(object), AGGREGATION_REFUSED);
  }
}

/**
 * Throws Forbidden when the binding's role grants permissions that its author does not hold there, unless the author
 * may `bind` that role. Throws NotFound when the role does not exist.
 */
export function checkBindingEscalation(authorizer: EscalationAuthorizer, write: PolicyWrite): void {
  const { user, object } = write;
  const isCluster = object.kind === "ClusterRoleBinding";
  const { roleRef } = isCluster ? typed("ClusterRoleBinding", object) : typed("RoleBinding", object);
  const roles = roleRef.kind === "ClusterRole" ? "clusterroles" : "roles";
  if (isExempt(write) || mayUse(authorizer, write, { verb: "bind", resource: roles, name: roleRef.name })) return;
  const namespace = namespaceOf(object);
  const rules = authorizer.rulesOf(roleRef, namespace);
  if (rules === undefined) throw notFoundError({ group: RBAC_GROUP, resource: roles }, roleRef.name);
  const resource = isCluster ? "clusterrolebindings" : "rolebindings";
  confirmHeld(authorizer, { user, namespace, rules }, { resource, name: nameOf(object) });
}

const nameOf = ({ metadata }: KubeObject) => metadata.name ?? "";
const namespaceOf = ({ metadata }: KubeObject) => metadata.namespace ?? "";

/** True for superusers, and for updates of finalizers and owners alone, which the garbage collector makes. */
function isExempt({ user, object, current }: PolicyWrite): boolean {
  if (user.groups.includes(SUPERUSERS)) return true;
  return current !== undefined && isDeepStrictEqual(withoutOwnership(object), withoutOwnership(current));
}

function withoutOwnership(object: KubeObject): KubeObject {
  const {
    finalizers: _,
    ownerReferences: __,
    managedFields: ___,
    resourceVersion: ____,
    ...metadata
  } = object.metadata;
  return { ...object, metadata };
}

function mayUse(
  { authorize }: EscalationAuthorizer,
  { user, object }: PolicyWrite,
  { verb, resource, name }: { verb: "bind" | "escalate"; resource: string; name: string },
): boolean {
  const namespace = namespaceOf(object);
  const target = { group: RBAC_GROUP, version: "*", resource, subresource: "", namespace, name };
  return authorize({ user, verb, ...target }).allowed;
}

interface Grantable {
  readonly user: User;
  readonly namespace: string;
  readonly rules: readonly PolicyRule[];
}

function confirmHeld(
  authorizer: EscalationAuthorizer,
  { user, namespace, rules }: Grantable,
  { resource, name }: { resource: string; name: string },
): void {
  const held = authorizer.rulesFor(user, namespace);
  const refuse = (detail: string) => forbiddenError({ group: RBAC_GROUP, resource }, name, detail);
  const missing = missingRules(held.rules, rules, refuse);
  if (missing.length === 0) return;
  const lines = [...new Set(compactRules(missing).map(formatRule))].sort();
  const who = `user ${JSON.stringify(user.username)} (groups=${formatStrings(user.groups)})`;
  const problems = held.problems.length === 0 ? "" : `; resolution errors: [${formatResolutionErrors(held.problems)}]`;
  const detail = `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}${problems}`;
  throw refuse(detail);
}

function missingRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
  refuse: (detail: string) => Error,
): PolicyRule[] {
  try {
    return uncoveredRules(held, wanted);
  } catch (error) {
    throw error instanceof TooManyRulesError ? refuse(error.message) : error;
  }
}

function aggregationOf(object: KubeObject): AggregationRule | undefined {
  return object.kind === "ClusterRole" ? typed("ClusterRole", object).aggregationRule : undefined;
}
