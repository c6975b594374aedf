import type { PolicyRule, Subject } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { FakeCluster } from "./fake-cluster.ts";

const GROUP = "rbac.authorization.k8s.io";
const apiVersion = `${GROUP}/v1`;

/** A subject written as `User/a`, `Group/b` or `ServiceAccount/namespace/name`. */
function subject(text: string): Subject {
  const [kind = "", first = "", second] = text.split("/");
  if (kind !== "ServiceAccount") return { apiGroup: GROUP, kind, name: first };
  return { kind, name: second ?? first, ...(second !== undefined && { namespace: first }) };
}

/** Puts a role of a namespace; without a namespace, of the cluster. */
export function putRole(cluster: FakeCluster, name: string, rules: readonly PolicyRule[], namespace = ""): KubeObject {
  const kind = namespace === "" ? "ClusterRole" : "Role";
  const metadata = namespace === "" ? { name } : { name, namespace };
  return cluster.put(`${kind.toLowerCase()}s.${GROUP}`, { apiVersion, kind, metadata, rules });
}

/** Puts a binding of a namespace; without a namespace, of the cluster. `role`: `ClusterRole/x` or `Role/x`. */
export function putBinding(
  cluster: FakeCluster,
  { name, role, subjects, namespace = "" }: { name: string; role: string; subjects: string[]; namespace?: string },
): KubeObject {
  const [roleKind = "", roleName = ""] = role.split("/");
  const kind = namespace === "" ? "ClusterRoleBinding" : "RoleBinding";
  const metadata = namespace === "" ? { name } : { name, namespace };
  const roleRef = { apiGroup: GROUP, kind: roleKind, name: roleName };
  const object = { apiVersion, kind, metadata, roleRef, subjects: subjects.map(subject) };
  return cluster.put(`${kind.toLowerCase()}s.${GROUP}`, object);
}
