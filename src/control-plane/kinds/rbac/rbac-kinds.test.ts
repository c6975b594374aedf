import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { ClusterRole, PolicyRule, RoleRef, Subject } from "../../../api/gen/types.ts";
import { untyped } from "../../../api/object.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { RBAC_KINDS } from "./rbac-kinds.ts";

const GROUP = "rbac.authorization.k8s.io";
const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);

function rowOf(kind: string): ResourceKind {
  return RBAC_KINDS.find((row) => row.kind === kind) ?? expect.fail(`no row of kind ${kind}`);
}

it.each([
  ["Role", "roles", true],
  ["RoleBinding", "rolebindings", true],
  ["ClusterRole", "clusterroles", false],
  ["ClusterRoleBinding", "clusterrolebindings", false],
])("a %s is created by PUT too, and may be called what fits a path", (kind, plural, namespaced) => {
  const row = rowOf(kind);
  expect(row).toMatchObject({ group: GROUP, plural, namespaced, strategy: { createsOnUpdate: true } });
  expect(row.strategy.checkName?.("system:Node_1")).toEqual([]);
  expect(row.strategy.checkName?.("a/b")).toEqual(["may not contain '/'"]);
});

describe("a rule", () => {
  const READS: PolicyRule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
  const rulesOf = (kind: string, rule: PolicyRule) => {
    const role = untyped({ apiVersion: `${GROUP}/v1`, kind: "Role", metadata: { name: "r" }, rules: [rule] });
    return show(rowOf(kind).strategy.validate?.({ ...role, kind }));
  };

  it.each<[string, PolicyRule, string[]]>([
    ["is about resources", READS, []],
    ["may name objects of several resources", { ...READS, resources: ["a", "b"], resourceNames: ["x"] }, []],
    [
      "allows something",
      { ...READS, verbs: [] },
      ["rules[0].verbs: Required value: verbs must contain at least one value"],
    ],
    [
      "says of which resources",
      { verbs: ["get"] },
      [
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
      ],
    ],
    [
      "is about resources or paths",
      { ...READS, nonResourceURLs: ["/healthz"] },
      [
        'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular resources and non-resource URLs',
      ],
    ],
  ])("%s", (_name, rule, errors) => {
    expect(rulesOf("ClusterRole", rule)).toEqual(errors);
  });

  it("is about paths in a cluster role only", () => {
    const rule = { nonResourceURLs: ["/healthz"], verbs: ["get"] };
    expect(rulesOf("ClusterRole", rule)).toEqual([]);
    expect(rulesOf("Role", rule)).toEqual([
      'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs',
    ]);
  });
});

it.each<[string, ClusterRole["aggregationRule"], string[]]>([
  ["by labels", { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] }, []],
  [
    "by something",
    {},
    [
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
    ],
  ],
  [
    "by selectors that are such",
    { clusterRoleSelectors: [{ matchExpressions: [{ key: "a", operator: "In" }] }] },
    [
      "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
  ],
])("cluster roles are aggregated %s", (_name, aggregationRule = {}, errors) => {
  const role = untyped({ apiVersion: `${GROUP}/v1`, kind: "ClusterRole", metadata: { name: "r" }, aggregationRule });
  expect(show(rowOf("ClusterRole").strategy.validate?.(role))).toEqual(errors);
});

describe("a binding", () => {
  const VIEW: RoleRef = { apiGroup: GROUP, kind: "ClusterRole", name: "view" };
  const JANE: Subject = { kind: "User", name: "jane" };
  const bindingOf = (kind: string, roleRef: RoleRef, subjects: Subject[] = []) => {
    const metadata = { name: "b" };
    const made = untyped({ apiVersion: `${GROUP}/v1`, kind: "RoleBinding", metadata, roleRef, subjects });
    const { strategy } = rowOf(kind);
    return strategy.default?.({ ...made, kind }) ?? expect.fail("bindings have defaults");
  };

  it("knows the group of users, groups and roles, and that accounts have none", () => {
    const subjects = [JANE, { kind: "Group", name: "devs" }, { kind: "ServiceAccount", name: "a", namespace: "n" }];
    expect(bindingOf("RoleBinding", { kind: "Role", name: "r" }, subjects)).toMatchObject({
      roleRef: { apiGroup: GROUP, kind: "Role", name: "r" },
      subjects: [{ ...JANE, apiGroup: GROUP }, { kind: "Group", name: "devs", apiGroup: GROUP }, subjects[2]],
    });
  });

  it.each<[string, string, RoleRef, Subject[], string[]]>([
    ["gives a cluster role everywhere", "ClusterRoleBinding", VIEW, [JANE], []],
    [
      "gives a role in its namespace",
      "RoleBinding",
      { ...VIEW, kind: "Role" },
      [{ kind: "ServiceAccount", name: "a" }],
      [],
    ],
    [
      "gives no role everywhere",
      "ClusterRoleBinding",
      { ...VIEW, kind: "Role" },
      [],
      ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
    ],
    [
      "gives what is called something",
      "RoleBinding",
      { apiGroup: "x", kind: "Pod", name: "" },
      [],
      [
        `roleRef.apiGroup: Unsupported value: "x": supported values: "${GROUP}"`,
        'roleRef.kind: Unsupported value: "Pod": supported values: "Role", "ClusterRole"',
        "roleRef.name: Required value",
      ],
    ],
    [
      "gives it to accounts of a namespace",
      "ClusterRoleBinding",
      VIEW,
      [{ kind: "ServiceAccount", name: "A", apiGroup: "x" }],
      [
        expect.stringContaining('subjects[0].name: Invalid value: "A": a lowercase RFC 1123 subdomain'),
        'subjects[0].apiGroup: Unsupported value: "x": supported values: ""',
        "subjects[0].namespace: Required value",
      ],
    ],
    [
      "gives it to users who have names",
      "RoleBinding",
      VIEW,
      [{ kind: "User", name: "" }],
      ["subjects[0].name: Required value", 'subjects[0].name: Invalid value: "": user name cannot be empty'],
    ],
    [
      "gives it to nobody else",
      "RoleBinding",
      VIEW,
      [{ kind: "Robot", name: "r" }],
      ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
    ],
  ])("%s", (_name, kind, roleRef, subjects, errors) => {
    expect(show(rowOf(kind).strategy.validate?.(bindingOf(kind, roleRef, subjects)))).toEqual(errors);
  });

  it.each(["RoleBinding", "ClusterRoleBinding"])("of kind %s keeps its role and may change who has it", (kind) => {
    const { strategy } = rowOf(kind);
    const current = bindingOf(kind, VIEW);
    expect(show(strategy.validateUpdate?.(bindingOf(kind, VIEW, [JANE]), current))).toEqual([]);
    expect(show(strategy.validateUpdate?.(bindingOf(kind, { ...VIEW, name: "edit" }), current))).toEqual([
      `roleRef: Invalid value: {"apiGroup":"${GROUP}","kind":"ClusterRole","name":"edit"}: cannot change roleRef`,
    ]);
  });
});
