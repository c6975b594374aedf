import * as fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { ClusterRoleBinding, PolicyRule, Subject } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import type { AccessAttributes } from "../ports/request.ts";
import type { User } from "../ports/user.ts";
import { createFakeCluster, type FakeCluster } from "./__fixtures__/fake-cluster.ts";
import { putBinding, putRole } from "./__fixtures__/policy.ts";
import { createAuthorizer } from "./rbac.ts";
import { ruleAllows } from "./rule-match.ts";

const GROUP = "rbac.authorization.k8s.io";
const readPods = [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] }];

let cluster: FakeCluster;
beforeEach(() => {
  cluster = createFakeCluster();
});

const jane: User = { username: "jane", groups: ["dev", "system:authenticated"] };
const builder: User = { username: "system:serviceaccount:ci:builder", groups: ["system:serviceaccounts"] };

function getPods(user: User, namespace = "default"): AccessAttributes {
  return { user, verb: "get", group: "", version: "v1", resource: "pods", subresource: "", namespace, name: "a" };
}

describe("a request is allowed", () => {
  it("for superusers without any role", () => {
    const { authorize } = createAuthorizer(cluster);
    const user = { username: "root", groups: ["system:masters"] };
    expect(authorize(getPods(user))).toEqual({ allowed: true, reason: "" });
    expect(authorize({ user, verb: "get", path: "/metrics" }).allowed).toBe(true);
  });

  it.each<[string, User, { role: string; subjects: string[]; namespace?: string }, string]>([
    [
      "by name",
      jane,
      { role: "ClusterRole/reader", subjects: ["User/jane"] },
      'ClusterRoleBinding "b" of ClusterRole "reader" to User "jane"',
    ],
    [
      "by group",
      jane,
      { role: "ClusterRole/reader", subjects: ["User/joe", "Group/dev"] },
      'ClusterRoleBinding "b" of ClusterRole "reader" to Group "dev"',
    ],
    [
      "as a service account",
      builder,
      { role: "ClusterRole/reader", subjects: ["ServiceAccount/ci/builder"] },
      'ClusterRoleBinding "b" of ClusterRole "reader" to ServiceAccount "builder/ci"',
    ],
    [
      "in a namespace, by a role of it",
      jane,
      { role: "Role/local", subjects: ["User/jane"], namespace: "default" },
      'RoleBinding "b/default" of Role "local" to User "jane"',
    ],
    [
      "in a namespace, by a role of the cluster",
      jane,
      { role: "ClusterRole/reader", subjects: ["User/jane"], namespace: "default" },
      'RoleBinding "b/default" of ClusterRole "reader" to User "jane"',
    ],
  ])("%s", (_what, user, binding, reason) => {
    const { authorize } = createAuthorizer(cluster);
    putRole(cluster, "reader", readPods);
    putRole(cluster, "local", readPods, "default");
    expect(authorize(getPods(user)).allowed).toBe(false);
    putBinding(cluster, { name: "b", ...binding });
    expect(authorize(getPods(user))).toEqual({ allowed: true, reason: `RBAC: allowed by ${reason}` });
  });

  it("to a service account that its namespace's binding names without the namespace", () => {
    putRole(cluster, "reader", readPods);
    putBinding(cluster, {
      name: "b",
      role: "ClusterRole/reader",
      subjects: ["ServiceAccount/builder"],
      namespace: "ci",
    });
    const { authorize } = createAuthorizer(cluster);
    expect(authorize(getPods(builder, "ci"))).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/ci" of ClusterRole "reader" to ServiceAccount "builder/ci"',
    });
    expect(authorize(getPods(builder, "default")).allowed).toBe(false);
  });

  it("for paths by cluster-wide bindings", () => {
    putRole(cluster, "metrics", [{ verbs: ["get"], nonResourceURLs: ["/metrics"] }]);
    putBinding(cluster, { name: "b", role: "ClusterRole/metrics", subjects: ["User/jane"] });
    const { authorize } = createAuthorizer(cluster);
    expect(authorize({ user: jane, verb: "get", path: "/metrics" }).allowed).toBe(true);
    expect(authorize({ user: jane, verb: "get", path: "/debug" }).allowed).toBe(false);
  });
});

describe("a request is refused", () => {
  it("in other namespaces than the binding's, and across all of them", () => {
    putRole(cluster, "reader", readPods);
    putBinding(cluster, { name: "b", role: "ClusterRole/reader", subjects: ["User/jane"], namespace: "default" });
    const { authorize } = createAuthorizer(cluster);
    expect(authorize(getPods(jane, "other"))).toEqual({ allowed: false, reason: "" });
    expect(authorize(getPods(jane, "")).allowed).toBe(false);
  });

  it("with a reason where a binding's role is missing", () => {
    putBinding(cluster, { name: "a", role: "ClusterRole/gone", subjects: ["User/jane"] });
    const { authorize } = createAuthorizer(cluster);
    const gone = `clusterrole.${GROUP} "gone" not found`;
    expect(authorize(getPods(jane))).toEqual({ allowed: false, reason: `RBAC: ${gone}` });
    putBinding(cluster, { name: "b", role: "Role/gone", subjects: ["Group/dev"], namespace: "default" });
    expect(authorize(getPods(jane)).reason).toBe(`RBAC: [${gone}, role.${GROUP} "gone" not found]`);
  });
});

describe("a change counts from the moment on when it is told", () => {
  beforeEach(() => {
    putRole(cluster, "reader", readPods);
    putBinding(cluster, { name: "b", role: "ClusterRole/reader", subjects: ["User/jane", "Group/ops"] });
  });

  it.each<[string, () => void]>([
    ["a binding that goes", () => cluster.remove(`clusterrolebindings.${GROUP}`, "b")],
    ["a role that goes", () => cluster.remove(`clusterroles.${GROUP}`, "reader")],
    ["a role that says less", () => putRole(cluster, "reader", [])],
    [
      "a subject that goes",
      () => putBinding(cluster, { name: "b", role: "ClusterRole/reader", subjects: ["Group/ops"] }),
    ],
  ])("%s", (_what, change) => {
    const { authorize } = createAuthorizer(cluster);
    expect(authorize(getPods(jane)).allowed).toBe(true);
    change();
    expect(authorize(getPods(jane)).allowed).toBe(false);
  });

  it("one binding that goes leaves the others of its subject", () => {
    putBinding(cluster, { name: "c", role: "ClusterRole/reader", subjects: ["User/jane"] });
    const { authorize } = createAuthorizer(cluster);
    cluster.remove(`clusterrolebindings.${GROUP}`, "b");
    expect(authorize(getPods(jane)).reason).toContain('ClusterRoleBinding "c"');
  });

  it("and takes no longer where bindings name one subject thousands of times", () => {
    const { authorize } = createAuthorizer(cluster);
    const subjects = Array.from({ length: 20_000 }, () => "User/joe");
    const before = process.cpuUsage();
    for (const name of ["c", "d", "c"]) putBinding(cluster, { name, role: "ClusterRole/reader", subjects });
    cluster.remove(`clusterrolebindings.${GROUP}`, "c");
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000, "milliseconds; it took 8 s").toBeLessThan(2_000);
    expect(authorize(getPods({ ...jane, username: "joe" })).reason).toContain('ClusterRoleBinding "d"');
  });

  it("and none after it was closed", () => {
    const authorizer = createAuthorizer(cluster);
    authorizer.close();
    expect(cluster.followers).toBe(0);
  });
});

describe("the rules that a user holds", () => {
  it("are those of every binding, each role once", () => {
    putRole(cluster, "reader", readPods);
    const local = [{ verbs: ["create"], apiGroups: [""], resources: ["pods"] }];
    putRole(cluster, "local", local, "default");
    putBinding(cluster, { name: "a", role: "ClusterRole/reader", subjects: ["User/jane", "Group/dev"] });
    putBinding(cluster, { name: "b", role: "Role/local", subjects: ["Group/dev"], namespace: "default" });
    putBinding(cluster, { name: "c", role: "Role/gone", subjects: ["Group/dev"], namespace: "default" });
    const { rulesFor } = createAuthorizer(cluster);
    const problems = [`role.${GROUP} "gone" not found`];
    expect(rulesFor(jane, "default")).toEqual({ rules: [...readPods, ...local], problems });
    expect(rulesFor(jane, "")).toEqual({ rules: readPods, problems: [] });
  });

  it("of a node are not all that it may do, and that is said", () => {
    const { rulesFor } = createAuthorizer(cluster);
    const node = { username: "system:node:a", groups: ["system:nodes"] };
    expect(rulesFor(node, "").problems).toEqual(["node authorizer does not support user rule resolution"]);
  });
});

describe("against an evaluator that looks at everything", () => {
  const name = fc.constantFrom("a", "b", "c");
  const star = fc.constantFrom("a", "b", "*");
  const rule = fc.record({
    verbs: fc.array(star, { maxLength: 2 }),
    apiGroups: fc.array(star, { maxLength: 2 }),
    resources: fc.array(fc.constantFrom("a", "b", "a/s", "*/s", "*"), { maxLength: 2 }),
    resourceNames: fc.array(name, { maxLength: 1 }),
  });
  const subject = fc.oneof(
    name.map((who) => `User/${who}`),
    name.map((who) => `Group/${who}`),
    fc.tuple(name, name).map(([namespace, who]) => `ServiceAccount/${namespace}/${who}`),
    name.map((who) => `ServiceAccount/${who}`),
  );
  const place = fc.constantFrom("", "x", "y");
  const step = fc.oneof(
    fc.record({ do: fc.constant("role" as const), name, namespace: place, rules: fc.array(rule, { maxLength: 2 }) }),
    fc.record({
      do: fc.constant("bind" as const),
      name,
      namespace: place,
      role: fc.tuple(fc.constantFrom("Role", "ClusterRole"), name).map((parts) => parts.join("/")),
      subjects: fc.array(subject, { maxLength: 2 }),
    }),
    fc.record({ do: fc.constant("unbind" as const), name, namespace: place }),
  );
  const user = fc.record({
    username: fc.oneof(
      name,
      fc.tuple(name, name).map(([namespace, who]) => `system:serviceaccount:${namespace}:${who}`),
    ),
    groups: fc.array(name, { maxLength: 2 }),
  });
  const request = fc.record({
    user,
    verb: name,
    group: name,
    version: fc.constant("v1"),
    resource: name,
    subresource: fc.constantFrom("", "s"),
    namespace: place,
    name: fc.constantFrom("", "a", "b"),
  });

  it("decides the same, whatever was written before and after it began to follow", () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 12 }),
        fc.nat(12),
        fc.array(request, { minLength: 1 }),
        (steps, start, asked) => {
          const state = createFakeCluster();
          const apply = (one: (typeof steps)[number]) => {
            if (one.do === "role") putRole(state, one.name, one.rules, one.namespace);
            else if (one.do === "bind") {
              if (one.namespace === "" && one.role.startsWith("Role/")) return;
              putBinding(state, one);
            } else {
              const resource = `${one.namespace === "" ? "clusterrolebindings" : "rolebindings"}.${GROUP}`;
              if (state.reader.get({ resource, namespace: one.namespace, name: one.name })) {
                state.remove(resource, one.name, one.namespace);
              }
            }
          };
          steps.slice(0, start).forEach(apply);
          const { authorize } = createAuthorizer(state);
          steps.slice(start).forEach(apply);
          for (const attributes of asked) {
            expect(authorize(attributes).allowed).toBe(naive(state, attributes));
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  function naive({ reader }: FakeCluster, attributes: Extract<AccessAttributes, { resource: string }>): boolean {
    const local = attributes.namespace === "" ? [] : reader.list(`rolebindings.${GROUP}`, attributes.namespace);
    const bindings: ClusterRoleBinding[] = [
      ...reader.list(`clusterrolebindings.${GROUP}`).map((one) => typed("ClusterRoleBinding", one)),
      ...local.map((one) => typed("RoleBinding", one)),
    ];
    return bindings.some(({ metadata = {}, roleRef, subjects = [] }) => {
      const { namespace = "" } = metadata;
      if (!subjects.some((one) => isUser(one, namespace, attributes.user))) return false;
      return rulesOf(reader, roleRef, namespace).some((one) => ruleAllows(one, attributes));
    });
  }

  function isUser({ kind, name: who, namespace }: Subject, home: string, { username, groups }: User): boolean {
    if (kind === "User") return username === who;
    if (kind === "Group") return groups.includes(who);
    return username === `system:serviceaccount:${namespace ?? home}:${who}` && (namespace ?? home) !== "";
  }

  function rulesOf(reader: FakeCluster["reader"], ref: { kind: string; name: string }, home: string): PolicyRule[] {
    const namespace = ref.kind === "Role" ? home : "";
    const role = reader.get({ resource: `${ref.kind.toLowerCase()}s.${GROUP}`, namespace, name: ref.name });
    if (role === undefined) return [];
    return (role.kind === "Role" ? typed("Role", role) : typed("ClusterRole", role)).rules ?? [];
  }
});
