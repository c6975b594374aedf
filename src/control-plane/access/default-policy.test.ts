import { describe, expect, it } from "vitest";
import { aggregateRules } from "../../api/aggregate-rules.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import type { User } from "../ports/user.ts";
import { createFakeCluster } from "./__fixtures__/fake-cluster.ts";
import { DEFAULT_POLICY, reconcilePolicy } from "./default-policy.ts";
import { createAuthorizer } from "./rbac.ts";

const GROUP = "rbac.authorization.k8s.io";
const authenticated = ["system:authenticated"];
const anonymous: User = { username: "system:anonymous", groups: ["system:unauthenticated"] };

function find(kind: string, name: string): KubeObject {
  const found = DEFAULT_POLICY.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}

function clusterWithPolicy() {
  const cluster = createFakeCluster();
  for (const object of DEFAULT_POLICY) cluster.put(`${object.kind.toLowerCase()}s.${GROUP}`, object);
  return cluster;
}

/** The action is written as `get core pods default/name` or `get /healthz`. */
function may(user: User, text: string): boolean {
  const { authorize } = createAuthorizer(clusterWithPolicy());
  const [verb = "", group = "", target = "", place = ""] = text.split(" ");
  if (group.startsWith("/")) return authorize({ user, verb, path: group }).allowed;
  const [resource = "", subresource = ""] = target.split("/");
  const [namespace = "", name = ""] = place.split("/");
  const rest = { version: "v1", resource, subresource, namespace, name };
  return authorize({ user, verb, group: group === "core" ? "" : group, ...rest }).allowed;
}

describe("by the default policy", () => {
  it.each<[string, User, string[], string[]]>([
    [
      "somebody anonymous sees health and version alone",
      anonymous,
      ["get /healthz", "get /livez", "get /readyz", "get /version"],
      [
        "get /api",
        "get /apis",
        "get /openapi/v3",
        "get /metrics",
        "get /healthz/etcd",
        "post /version",
        "list core pods default/",
      ],
    ],
    [
      "a user learns what there is and what it may do",
      { username: "jane", groups: authenticated },
      [
        "get /api",
        "get /apis/apps/v1",
        "get /openapi/v3",
        "get /version/",
        "create authorization.k8s.io selfsubjectaccessreviews",
        "create authorization.k8s.io selfsubjectrulesreviews",
        "create authentication.k8s.io selfsubjectreviews",
      ],
      [
        "get /metrics",
        "list core namespaces",
        "create authorization.k8s.io subjectaccessreviews",
        "get core secrets default/a",
      ],
    ],
    [
      "a service account reads the keys of tokens and what the cluster trusts",
      { username: "system:serviceaccount:a:b", groups: ["system:serviceaccounts", ...authenticated] },
      [
        "get /.well-known/openid-configuration",
        "get /openid/v1/jwks",
        "get certificates.k8s.io clustertrustbundles /x",
        "watch certificates.k8s.io clustertrustbundles",
      ],
      ["get core secrets a/x", "create certificates.k8s.io clustertrustbundles"],
    ],
    [
      "a node that bootstraps asks for its certificate",
      { username: "system:bootstrap:abcdef", groups: ["system:bootstrappers", ...authenticated] },
      [
        "create certificates.k8s.io certificatesigningrequests",
        "create certificates.k8s.io certificatesigningrequests/nodeclient",
      ],
      ["create certificates.k8s.io certificatesigningrequests/selfnodeclient", "get core nodes a"],
    ],
    [
      "the scheduler binds pods and keeps its lease",
      { username: "system:kube-scheduler", groups: authenticated },
      [
        "create core pods/binding default/a",
        "watch core pods",
        "patch core pods/status default/a",
        "update coordination.k8s.io leases kube-system/kube-scheduler",
        "update core persistentvolumes x",
        "get core configmaps kube-system/extension-apiserver-authentication",
      ],
      ["update coordination.k8s.io leases default/other", "get core secrets default/a", "create core pods default/"],
    ],
    [
      "the proxy watches services",
      { username: "system:kube-proxy", groups: authenticated },
      ["watch core services", "watch discovery.k8s.io endpointslices", "get core nodes a"],
      ["get core secrets default/a"],
    ],
    [
      "a controller works under its own name",
      { username: "system:serviceaccount:kube-system:replicaset-controller", groups: authenticated },
      ["create core pods default/", "update apps replicasets/status default/a"],
      ["update apps deployments default/a"],
    ],
    [
      "the API server uses the APIs of nodes and nothing else",
      { username: "kube-apiserver-kubelet-client", groups: authenticated },
      [
        ...["get", "create", "update", "patch", "delete"].map((verb) => `${verb} core nodes/proxy /n`),
        ...["configz", "healthz", "log", "metrics", "pods", "stats", "statusz"].map(
          (name) => `get core nodes/${name} /n`,
        ),
        "create core nodes/checkpoint /n",
      ],
      [
        ...["get core secrets default/a", "list core pods", "create core pods/exec default/a", "patch core nodes /n"],
        ...["update core nodes/status /n", "delete core nodes /n", "impersonate core users /x", "get /metrics"],
        "create authentication.k8s.io tokenreviews",
      ],
    ],
    [
      "monitoring reads metrics",
      { username: "prometheus", groups: ["system:monitoring", ...authenticated] },
      ["get /metrics", "get /livez/ping"],
      ["get /debug/pprof", "list core pods"],
    ],
  ])("%s", (_what, user, allowed, refused) => {
    expect(allowed.filter((text) => !may(user, text))).toEqual([]);
    expect(refused.filter((text) => may(user, text))).toEqual([]);
  });

  it("people have what their role says: viewers no secrets, editors no roles, admins both, within their namespace", () => {
    const cluster = clusterWithPolicy();
    const { authorize } = createAuthorizer(cluster);
    const asks = {
      secret: ["get", "", "secrets"],
      role: ["create", GROUP, "roles"],
      pod: ["list", "", "pods"],
      edit: ["create", "apps", "deployments"],
    };
    const table = ["view", "edit", "admin"].map((name) => {
      const roleRef = { apiGroup: GROUP, kind: "ClusterRole", name };
      const subjects = [{ apiGroup: GROUP, kind: "User", name }];
      const metadata = { name, namespace: "default" };
      cluster.put(`rolebindings.${GROUP}`, {
        apiVersion: `${GROUP}/v1`,
        kind: "RoleBinding",
        metadata,
        roleRef,
        subjects,
      });
      const user = { username: name, groups: [] };
      return Object.entries(asks)
        .filter(
          ([, [verb = "", group = "", resource = ""]]) =>
            authorize({ user, verb, group, version: "v1", resource, subresource: "", namespace: "default", name: "" })
              .allowed,
        )
        .map(([what]) => what);
    });
    expect(table).toEqual([["pod"], ["secret", "pod", "edit"], ["secret", "role", "pod", "edit"]]);
  });
});

describe("the default policy", () => {
  it("names nothing twice, and binds what it defines", () => {
    const names = DEFAULT_POLICY.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const object of DEFAULT_POLICY.filter(({ kind }) => kind.endsWith("Binding"))) {
      const { roleRef } =
        object.kind === "RoleBinding" ? typed("RoleBinding", object) : typed("ClusterRoleBinding", object);
      const place = roleRef.kind === "Role" ? (object.metadata.namespace ?? "") : "";
      expect(names).toContain(`${roleRef.kind} ${place}/${roleRef.name}`);
    }
  });

  it("has in its aggregated roles what aggregation would put there", () => {
    const roles = DEFAULT_POLICY.filter(({ kind }) => kind === "ClusterRole").map((object) =>
      typed("ClusterRole", object),
    );
    const aggregated = roles.filter(({ aggregationRule }) => aggregationRule !== undefined);
    expect(aggregated.map(({ metadata }) => metadata?.name)).toEqual(["view", "edit", "admin"]);
    for (const role of aggregated) {
      // The order of the rules follows the roles' names, but does not change the role's meaning.
      const expected = new Set(aggregateRules(role, roles)?.map((rule) => JSON.stringify(rule)));
      expect(new Set(role.rules?.map((rule) => JSON.stringify(rule)))).toEqual(expected);
    }
  });
});

describe("what users did to a default object", () => {
  const role = find("ClusterRole", "system:kube-dns");
  const binding = find("ClusterRoleBinding", "system:kube-dns");
  const rules = typed("ClusterRole", role).rules ?? [];
  const extra = { verbs: ["get"], apiGroups: ["x"], resources: ["y"] };

  it.each<[string, KubeObject | undefined, KubeObject, object | undefined]>([
    ["a missing one is made", undefined, role, role],
    ["one as it should be stays", role, role, undefined],
    [
      "rules that were taken away come back",
      { ...role, rules: [] },
      role,
      {
        rules: [
          { verbs: ["list"], apiGroups: [""], resources: ["endpoints"] },
          { verbs: ["watch"], apiGroups: [""], resources: ["endpoints"] },
          { verbs: ["list"], apiGroups: [""], resources: ["services"] },
          { verbs: ["watch"], apiGroups: [""], resources: ["services"] },
        ],
      },
    ],
    ["rules that were added stay", { ...role, rules: [...rules, extra] }, role, undefined],
    [
      "subjects that were taken away come back",
      { ...binding, subjects: [] },
      binding,
      { subjects: binding["subjects"] },
    ],
    [
      "another role under our binding's name stays",
      { ...binding, roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: "x" }, subjects: [] },
      binding,
      undefined,
    ],
    [
      "labels come back",
      { ...role, metadata: { ...role.metadata, labels: { mine: "1" } } },
      role,
      { metadata: { ...role.metadata, labels: { ...role.metadata.labels, mine: "1" } } },
    ],
    [
      "nothing is done where the user forbids it",
      {
        ...role,
        rules: [],
        metadata: { ...role.metadata, annotations: { "rbac.authorization.kubernetes.io/autoupdate": "false" } },
      },
      role,
      undefined,
    ],
    [
      "the rules of an aggregated role are left to aggregation",
      { ...find("ClusterRole", "view"), rules: [] },
      find("ClusterRole", "view"),
      undefined,
    ],
  ])("%s", (_what, existing, wanted, expected) => {
    const written = reconcilePolicy(existing, wanted);
    if (expected === undefined) expect(written).toBeUndefined();
    else expect(written).toMatchObject(expected);
    if (written !== undefined) expect(reconcilePolicy(written, wanted)).toBeUndefined();
  });
});

describe("an aggregated role", () => {
  const role = (name: string, labels: Record<string, string>, verbs: string[]) => ({
    metadata: { name, labels },
    rules: verbs.map((verb) => ({ verbs: [verb], apiGroups: [""], resources: ["pods"] })),
  });
  const roles = [
    role("c", { a: "1" }, ["get", "list"]),
    role("b", { a: "2" }, ["get", "watch"]),
    role("d", {}, ["delete"]),
  ];
  const verbs = (
    clusterRoleSelectors: NonNullable<Parameters<typeof aggregateRules>[0]["aggregationRule"]>["clusterRoleSelectors"],
  ) =>
    aggregateRules(
      { metadata: { name: "x" }, aggregationRule: { clusterRoleSelectors: clusterRoleSelectors ?? [] } },
      roles,
    )?.flatMap((rule) => rule.verbs);

  it.each<[string, Parameters<typeof verbs>[0], string[]]>([
    ["by a label", [{ matchLabels: { a: "1" } }], ["get", "list"]],
    [
      "by several, in order of the selectors, each rule once",
      [{ matchLabels: { a: "1" } }, { matchLabels: { a: "2" } }],
      ["get", "list", "watch"],
    ],
    [
      "by values, in order of the names",
      [{ matchExpressions: [{ key: "a", operator: "In", values: ["1", "2"] }] }],
      ["get", "watch", "list"],
    ],
    ["by absence", [{ matchExpressions: [{ key: "a", operator: "DoesNotExist" }] }], ["delete"]],
    [
      "by presence",
      [
        {
          matchExpressions: [
            { key: "a", operator: "Exists" },
            { key: "a", operator: "NotIn", values: ["1"] },
          ],
        },
      ],
      ["get", "watch"],
    ],
    ["by everything", [{}], ["get", "watch", "list", "delete"]],
  ])("takes rules %s", (_what, selectors, expected) => {
    expect(verbs(selectors)).toEqual(expected);
  });

  it("is not one without a rule for it, and does not take its own", () => {
    expect(aggregateRules(role("c", {}, ["get"]), roles)).toBeUndefined();
    const own = {
      ...role("c", { a: "1" }, ["get"]),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "1" } }] },
    };
    expect(aggregateRules(own, [own])).toEqual([]);
  });
});
