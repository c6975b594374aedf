import { beforeEach, describe, expect, it } from "vitest";
import type { PolicyRule } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import { LOOPBACK_USER, type User } from "../ports/user.ts";
import { createFakeCluster, type FakeCluster } from "./__fixtures__/fake-cluster.ts";
import { putBinding, putRole } from "./__fixtures__/policy.ts";
import { checkBindingEscalation, checkRoleEscalation } from "./escalation.ts";
import { createAuthorizer } from "./rbac.ts";
import { compactRules, formatRule, uncoveredRules } from "./rule-cover.ts";

const RBAC = "rbac.authorization.k8s.io";
const jane: User = { username: "jane", groups: ["system:authenticated"] };
const pods = (verbs: string[], more: Partial<PolicyRule> = {}): PolicyRule => ({
  verbs,
  apiGroups: [""],
  resources: ["pods"],
  ...more,
});

let cluster: FakeCluster;
beforeEach(() => {
  cluster = createFakeCluster();
  putRole(cluster, "reader", [pods(["get", "list"])]);
  putRole(cluster, "writer", [pods(["get", "create", "delete"]), { verbs: ["get"], nonResourceURLs: ["/metrics"] }]);
});

const give = (rules: PolicyRule[], namespace = "") => {
  putRole(cluster, "janes", rules);
  putBinding(cluster, { name: "janes", role: "ClusterRole/janes", subjects: ["User/jane"], namespace });
};

function role(rules: PolicyRule[], namespace = "", more = {}): KubeObject {
  const metadata = { name: "new", ...(namespace !== "" && { namespace }) };
  return { apiVersion: `${RBAC}/v1`, kind: namespace === "" ? "ClusterRole" : "Role", metadata, rules, ...more };
}

function binding(kind: string, name: string, namespace = ""): KubeObject {
  const metadata = { name: "new", ...(namespace !== "" && { namespace }) };
  const roleRef = { apiGroup: RBAC, kind, name };
  return { apiVersion: `${RBAC}/v1`, kind: namespace === "" ? "ClusterRoleBinding" : "RoleBinding", metadata, roleRef };
}

const writeRole = (object: KubeObject, user = jane, current?: KubeObject) =>
  checkRoleEscalation(createAuthorizer(cluster), { user, object, current });
const writeBinding = (object: KubeObject, user = jane, current?: KubeObject) =>
  checkBindingEscalation(createAuthorizer(cluster), { user, object, current });

describe("a role", () => {
  it("that grants more than its author has is refused, with what is missing", () => {
    give([pods(["get"])]);
    const wanted = role([pods(["get", "list", "create"]), { verbs: ["get"], nonResourceURLs: ["/metrics"] }]);
    expect(() => writeRole(wanted)).toThrow(
      expect.objectContaining({
        reason: "Forbidden",
        message:
          `clusterroles.${RBAC} "new" is forbidden: user "jane" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n` +
          '{APIGroups:[""], Resources:["pods"], Verbs:["list" "create"]}\n{NonResourceURLs:["/metrics"], Verbs:["get"]}',
      }),
    );
  });

  it("within what its author has in the namespace is fine there, and nowhere else", () => {
    give([pods(["get"])], "default");
    writeRole(role([pods(["get"])], "default"));
    expect(() => writeRole(role([pods(["get"])], "other"))).toThrow("not currently held");
    expect(() => writeRole(role([pods(["get"])]))).toThrow("not currently held");
  });

  it.each<[string, PolicyRule[], User]>([
    ["superusers", [], LOOPBACK_USER],
    ["who may escalate", [{ verbs: ["escalate"], apiGroups: [RBAC], resources: ["clusterroles"] }], jane],
  ])("is written by %s as they like", (_what, rules, user) => {
    give(rules);
    writeRole(role([pods(["*"])]), user);
  });

  it("that changes only in its owners and finalizers is let through for the garbage collector", () => {
    const current = role([pods(["*"])]);
    writeRole({ ...current, metadata: { ...current.metadata, finalizers: ["x"] } }, jane, current);
    const relabelled = { ...current, metadata: { ...current.metadata, labels: { a: "b" } } };
    expect(() => writeRole(relabelled, jane, current)).toThrow("not currently held");
  });

  it("that aggregates others takes somebody who may do everything", () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] };
    give([pods(["*"])]);
    const refusal = "must have cluster-admin privileges to use the aggregationRule";
    expect(() => writeRole(role([], "", { aggregationRule }))).toThrow(refusal);
    expect(() => writeRole(role([]), jane, role([], "", { aggregationRule }))).toThrow(refusal);
    give([
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      { verbs: ["*"], nonResourceURLs: ["*"] },
    ]);
    writeRole(role([], "", { aggregationRule }));
  });
});

describe("a binding", () => {
  it("of a role that grants more than its author has is refused", () => {
    give([pods(["get"])]);
    expect(() => writeBinding(binding("ClusterRole", "reader"))).toThrow(
      `clusterrolebindings.${RBAC} "new" is forbidden: user "jane" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["list"]}`,
    );
    expect(() => writeBinding(binding("ClusterRole", "reader", "default"))).toThrow(
      `rolebindings.${RBAC} "new" is forbidden`,
    );
  });

  it("of a role that its author holds in the namespace is fine there", () => {
    give([pods(["get", "list", "watch"])], "default");
    writeBinding(binding("ClusterRole", "reader", "default"));
    expect(() => writeBinding(binding("ClusterRole", "reader"))).toThrow("not currently held");
  });

  it("may be made by who may bind that role", () => {
    give([{ verbs: ["bind"], apiGroups: [RBAC], resources: ["clusterroles"], resourceNames: ["writer"] }]);
    writeBinding(binding("ClusterRole", "writer"));
    expect(() => writeBinding(binding("ClusterRole", "reader"))).toThrow("not currently held");
  });

  it.each([
    ["ClusterRole", "clusterroles"],
    ["Role", "roles"],
  ])("of a %s that is not there cannot be compared with anything", (kind, plural) => {
    const missing = expect.objectContaining({ reason: "NotFound", message: `${plural}.${RBAC} "gone" not found` });
    expect(() => writeBinding(binding(kind, "gone", "default"))).toThrow(missing);
    writeBinding(binding(kind, "gone", "default"), LOOPBACK_USER);
  });
});

it.each<[string, PolicyRule[], PolicyRule[], PolicyRule[]]>([
  ["the same", [pods(["get"])], [pods(["get"])], []],
  ["two rules together", [pods(["get"]), pods(["list"])], [pods(["get", "list"])], []],
  ["all verbs by some", [pods(["get", "list"])], [pods(["*"])], [pods(["*"])]],
  ["some verbs by all", [pods(["*"])], [pods(["get"])], []],
  ["all names by one", [pods(["get"], { resourceNames: ["a"] })], [pods(["get"])], [pods(["get"])]],
  ["one name by all", [pods(["get"])], [pods(["get"], { resourceNames: ["a"] })], []],
  [
    "names one by one",
    [pods(["get"], { resourceNames: ["a"] })],
    [pods(["get"], { resourceNames: ["a", "b"] })],
    [pods(["get"], { resourceNames: ["b"] })],
  ],
  [
    "a subresource by that of all",
    [pods(["get"], { resources: ["*/log"] })],
    [pods(["get"], { resources: ["pods/log"] })],
    [],
  ],
  [
    "a subresource by the resource",
    [pods(["get"])],
    [pods(["get"], { resources: ["pods/log"] })],
    [pods(["get"], { resources: ["pods/log"] })],
  ],
  [
    "all resources by many",
    [pods(["get"])],
    [pods(["get"], { resources: ["*"] })],
    [pods(["get"], { resources: ["*"] })],
  ],
  [
    "another group",
    [pods(["get"])],
    [pods(["get"], { apiGroups: ["apps"] })],
    [pods(["get"], { apiGroups: ["apps"] })],
  ],
  [
    "a path by a prefix",
    [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/a/b"] }],
    [],
  ],
  [
    "a prefix by a path",
    [{ verbs: ["get"], nonResourceURLs: ["/a/b"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }],
  ],
  ["nothing wanted", [], [], []],
])("held rules cover %s, or leave the rest", (_what, held, wanted, missing) => {
  expect(uncoveredRules(held, wanted)).toEqual(missing);
});

const listOf = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe("a rule of many verbs, groups and resources", () => {
  const wanted = { verbs: listOf(2_000, "v"), apiGroups: listOf(2_000, "g"), resources: listOf(2_000, "r") };

  it("is refused without a look at each of its eight thousand million parts", () => {
    give([pods(["get"])]);
    expect(() => writeRole(role([wanted]))).toThrow(/too many combinations/);
  });

  it("may be granted by who holds everything", () => {
    expect(uncoveredRules([{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], [wanted])).toEqual([]);
    const named = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: ["a"] };
    expect(() => uncoveredRules([named], [wanted])).toThrow(/too many combinations/);
    expect(() => uncoveredRules([{ verbs: ["*"], nonResourceURLs: ["*"] }], [wanted])).toThrow(/too many/);
  });

  it("is refused where the rules that are held make it as much work", () => {
    const held = listOf(1_000, "r").map((resource) => ({ verbs: ["get"], apiGroups: [""], resources: [resource] }));
    expect(uncoveredRules(held, held)).toEqual([]);
    const twice = [...held, ...held];
    expect(() => uncoveredRules(twice, [{ verbs: ["get"], apiGroups: [""], resources: listOf(9_000, "x") }])).toThrow(
      /too many combinations/,
    );
  });
});

it("missing rules are shown as Go shows them, verbs of one target together", () => {
  const pieces = [pods(["get"], { resourceNames: ["a"] }), pods(["list"], { resourceNames: ["a"] }), pods(["get"])];
  expect(compactRules(pieces).map(formatRule)).toEqual([
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
    '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
  ]);
});
