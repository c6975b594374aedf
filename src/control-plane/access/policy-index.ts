import type { PolicyRule, RoleRef, Subject } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import type { ResourceEvent, ResourceFeed } from "../ports/resources.ts";
import type { User } from "../ports/user.ts";
import { serviceAccountUsername } from "./service-account-names.ts";

export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** One subject of one binding. */
export interface Grant {
  readonly binding: "ClusterRoleBinding" | "RoleBinding";
  readonly name: string;
  /** "" for a cluster role binding. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subject: Subject;
}

/** All roles and bindings, indexed so that a user's grants are found without a look at those of others. */
export interface PolicyIndex {
  /**
   * Calls `visit` with the grants that apply to the user: those of the whole cluster, then those of the namespace
   * (unless it is ""). Ends early when `visit` returns true.
   */
  visitGrants(user: User, namespace: string, visit: (grant: Grant) => boolean): void;
  /** Returns the rules of a role; undefined when the role does not exist. A Role is looked up in the namespace. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
  close(): void;
}

/** An index that follows the feed: a change costs as much as the changed object is large. */
export function createPolicyIndex(feed: ResourceFeed): PolicyIndex {
  const roles = new Map<string, readonly PolicyRule[]>();
  const grants: GrantsBySubject = new Map();

  const followRoles = (kind: "ClusterRole" | "Role", plural: string) =>
    feed.follow(`${plural}.${RBAC_GROUP}`, ({ type, object }: ResourceEvent) => {
      const { namespace = "", name = "" } = object.metadata;
      const key = roleKey(kind, namespace, name);
      if (type === "DELETED") roles.delete(key);
      else roles.set(key, typed(kind, object).rules ?? []);
    });

  const followBindings = (kind: Grant["binding"], plural: string) =>
    feed.follow(`${plural}.${RBAC_GROUP}`, ({ type, object, previous }: ResourceEvent) => {
      for (const stale of grantsOf(kind, previous ?? object)) remove(grants, stale);
      if (type === "DELETED") return;
      for (const grant of grantsOf(kind, object)) add(grants, grant);
    });

  const stops = [
    followRoles("ClusterRole", "clusterroles"),
    followRoles("Role", "roles"),
    followBindings("ClusterRoleBinding", "clusterrolebindings"),
    followBindings("RoleBinding", "rolebindings"),
  ];

  return {
    visitGrants(user, namespace, visit) {
      for (const place of namespace === "" ? [""] : ["", namespace]) {
        if (visitAll(grants.get(grantKey(place, "User", user.username)), visit)) return;
        for (const group of user.groups) {
          if (visitAll(grants.get(grantKey(place, "Group", group)), visit)) return;
        }
      }
    },
    rulesOf: ({ kind, name }, namespace) => roles.get(roleKey(kind, kind === "Role" ? namespace : "", name)),
    close() {
      for (const stop of stops) stop();
    },
  };
}

const roleKey = (kind: string, namespace: string, name: string) => `${kind} ${namespace} ${name}`;
const grantKey = (namespace: string, kind: "User" | "Group", name: string) => `${namespace} ${kind} ${name}`;

function grantsOf(binding: Grant["binding"], object: KubeObject): Grant[] {
  const { roleRef, subjects = [] } = typed(binding, object);
  const { namespace = "", name = "" } = object.metadata;
  return subjects.map((subject) => ({ binding, name, namespace, roleRef, subject }));
}

/** The key of a grant in the index; undefined for a subject that can be no user. */
function keyOf({ namespace, subject }: Grant): string | undefined {
  if (subject.kind === "User" || subject.kind === "Group") return grantKey(namespace, subject.kind, subject.name);
  // A role binding may leave out the namespace of service accounts in its own namespace.
  const home = subject.namespace || namespace;
  if (subject.kind !== "ServiceAccount" || home === "") return undefined;
  return grantKey(namespace, "User", serviceAccountUsername(home, subject.name));
}

/**
 * The grants of each subject, by their binding: one that names a subject twice grants once. A subject may be in thousands
 * of bindings, and a binding may name it thousands of times.
 */
type GrantsBySubject = Map<string, Map<string, Grant>>;

const bindingKey = ({ binding, name }: Grant) => `${binding} ${name}`;

function visitAll(grants: ReadonlyMap<string, Grant> | undefined, visit: (grant: Grant) => boolean): boolean {
  for (const grant of grants?.values() ?? []) if (visit(grant)) return true;
  return false;
}

function add(grants: GrantsBySubject, grant: Grant): void {
  const key = keyOf(grant);
  if (key === undefined) return;
  const there = grants.get(key);
  if (there === undefined) grants.set(key, new Map([[bindingKey(grant), grant]]));
  else if (!there.has(bindingKey(grant))) there.set(bindingKey(grant), grant);
}

function remove(grants: GrantsBySubject, grant: Grant): void {
  const key = keyOf(grant) ?? "";
  const there = grants.get(key);
  there?.delete(bindingKey(grant));
  if (there?.size === 0) grants.delete(key);
}
