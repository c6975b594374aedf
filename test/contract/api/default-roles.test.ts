import { describe, expect, it } from "vitest";
import { isRecord, type KubeObject } from "../../../src/api/object.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** `get apps/deployments`, `get /healthz`: what a role allows, one verb on one thing each. */
function grantsOf({ rules }: KubeObject): string[] {
  const list: unknown[] = Array.isArray(rules) ? rules : [];
  return list.filter(isRecord).flatMap((rule) => {
    const { verbs, apiGroups, resources, nonResourceURLs } = rule;
    const things = [
      ...textsIn(nonResourceURLs),
      ...textsIn(apiGroups).flatMap((group) => textsIn(resources).map((resource) => `${group}/${resource}`)),
    ];
    return textsIn(verbs).flatMap((verb) => things.map((thing) => `${verb} ${thing}`));
  });
}

const textsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** The default policy, of which what matters to users and to Kubernetes' own parts is looked at. */
describe.each(apiServersUnderTest())("default roles, on $name", (candidate) => {
  const server = useApiServer(candidate);
  const role = (name: string) => server.admin.object("GET", `${RBAC}/clusterroles/${name}`);

  it.each([
    ["system:aggregate-to-view", ["get /configmaps", "watch apps/deployments"], ["get /secrets", "create /pods"]],
    [
      "system:aggregate-to-edit",
      ["get /secrets", "create /pods/eviction", "patch apps/deployments"],
      ["create /nodes"],
    ],
    ["system:aggregate-to-admin", ["create rbac.authorization.k8s.io/roles"], ["create /resourcequotas"]],
    ["system:node", ["create /nodes", "patch /nodes/status", "create /pods/eviction"], ["delete /nodes"]],
    ["system:kube-scheduler", ["create /pods/binding", "patch /pods/status"], ["create /pods", "get /secrets"]],
    ["system:controller:attachdetach-controller", ["create storage.k8s.io/volumeattachments"], ["create /pods"]],
    ["system:controller:persistent-volume-binder", ["create /persistentvolumes"], ["delete /nodes"]],
    ["system:controller:horizontal-pod-autoscaler", ["update */*/scale"], ["create /pods"]],
    ["system:controller:ephemeral-volume-controller", ["create /persistentvolumeclaims"], ["create /pods"]],
    ["system:discovery", ["get /apis/*", "get /openapi/*"], ["get /metrics"]],
    ["system:monitoring", ["get /metrics", "get /livez/*"], ["get /apis"]],
  ])("%s", async (name, granted, withheld) => {
    const grants = grantsOf(await role(name));
    expect(grants).toEqual(expect.arrayContaining(granted));
    for (const grant of withheld) expect(grants).not.toContain(grant);
  });

  it.each(["edit", "admin"])("%s lets nobody say where a service leads (CVE-2021-25740)", async (name) => {
    const grants = grantsOf(await role(`system:aggregate-to-${name}`));
    const writes = ["create", "update", "patch"].flatMap((verb) => [
      `${verb} /endpoints`,
      `${verb} discovery.k8s.io/endpointslices`,
    ]);
    expect(grants.filter((grant) => writes.includes(grant))).toEqual([]);
  });

  it("are said to be kept up to date", async () => {
    expect(await role("cluster-admin")).toMatchObject({
      metadata: {
        labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
        annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
      },
    });
  });

  it("are bound to who works under them", async () => {
    const name = "system:controller:resourcequota-controller";
    expect(await server.admin.object("GET", `${RBAC}/clusterrolebindings/${name}`)).toMatchObject({
      roleRef: { kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", namespace: "kube-system", name: "resourcequota-controller" }],
    });
  });
});
