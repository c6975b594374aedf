import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { bind, configMap, node, pod, RUNNING, setStatus } from "./manifests.ts";
import { rowsOf } from "./tables.ts";

describe("kubectl get", () => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    kubectl = cluster.kubectl;
    const container = { resources: { requests: { cpu: "100m" } } };
    const items = [
      node("worker"),
      pod({ name: "idle", labels: { app: "idle", tier: "back" } }),
      pod({ name: "web", labels: { app: "web" } }, {}, container),
      configMap({ name: "settings", labels: { app: "web" } }),
    ];
    await kubectl.ok("create -f -", { input: { apiVersion: "v1", kind: "List", items } });
    await bind(kubectl, { pods: ["web"], to: "worker" });
    await setStatus(kubectl, "/api/v1/namespaces/default/pods/web", RUNNING);
  });
  afterAll(async () => await cluster?.stop());

  it("prints tables with upstream's columns", async () => {
    expect(rowsOf(await kubectl.ok("get pods"))).toEqual([
      "NAME | READY | STATUS | RESTARTS | AGE",
      "idle | 0/1 | Pending | 0 | AGE",
      "web | 1/1 | Running | 0 | AGE",
    ]);
    expect(rowsOf(await kubectl.ok("get nodes"))).toEqual([
      "NAME | STATUS | ROLES | AGE | VERSION",
      "worker | Ready | worker | AGE | v1.35.0",
    ]);
    expect(rowsOf(await kubectl.ok("get service,serviceaccount,configmap,namespace"))).toEqual([
      "NAME | TYPE | CLUSTER-IP | EXTERNAL-IP | PORT(S) | AGE",
      "service/kubernetes | ClusterIP | 10.96.0.1 | <none> | 443/TCP | AGE",
      "NAME | AGE",
      "serviceaccount/default | AGE",
      "NAME | DATA | AGE",
      "configmap/kube-root-ca.crt | 1 | AGE",
      "configmap/settings | 1 | AGE",
      "NAME | STATUS | AGE",
      "namespace/default | Active | AGE",
      "namespace/kube-node-lease | Active | AGE",
      "namespace/kube-public | Active | AGE",
      "namespace/kube-system | Active | AGE",
    ]);
  });

  it("prints more columns with -o wide", async () => {
    expect(rowsOf(await kubectl.ok("get pods -o wide"))).toEqual([
      "NAME | READY | STATUS | RESTARTS | AGE | IP | NODE | NOMINATED NODE | READINESS GATES",
      "idle | 0/1 | Pending | 0 | AGE | <none> | <none> | <none> | <none>",
      "web | 1/1 | Running | 0 | AGE | 10.1.0.4 | worker | <none> | <none>",
    ]);
    expect(rowsOf(await kubectl.ok("get nodes -o wide"))).toEqual([
      "NAME | STATUS | ROLES | AGE | VERSION | INTERNAL-IP | EXTERNAL-IP | OS-IMAGE | KERNEL-VERSION | CONTAINER-RUNTIME",
      "worker | Ready | worker | AGE | v1.35.0 | 192.0.2.5 | <none> | Debian GNU/Linux 12 (bookworm) | 6.1.0 | containerd://2.0.0",
    ]);
  });

  it("prints everything with get all, and every namespace with -A", async () => {
    expect(rowsOf(await kubectl.ok("get all"))).toEqual([
      "NAME | READY | STATUS | RESTARTS | AGE",
      "pod/idle | 0/1 | Pending | 0 | AGE",
      "pod/web | 1/1 | Running | 0 | AGE",
      "NAME | TYPE | CLUSTER-IP | EXTERNAL-IP | PORT(S) | AGE",
      "service/kubernetes | ClusterIP | 10.96.0.1 | <none> | 443/TCP | AGE",
    ]);
    expect(rowsOf(await kubectl.ok("get serviceaccounts -A"))).toEqual([
      "NAMESPACE | NAME | AGE",
      "default | default | AGE",
      "kube-node-lease | default | AGE",
      "kube-public | default | AGE",
      "kube-system | default | AGE",
    ]);
  });

  it("adds labels to tables, and leaves titles out", async () => {
    expect(rowsOf(await kubectl.ok("get pods --show-labels"))).toEqual([
      "NAME | READY | STATUS | RESTARTS | AGE | LABELS",
      "idle | 0/1 | Pending | 0 | AGE | app=idle,tier=back",
      "web | 1/1 | Running | 0 | AGE | app=web",
    ]);
    expect(rowsOf(await kubectl.ok("get pods -L tier"))).toEqual([
      "NAME | READY | STATUS | RESTARTS | AGE | TIER",
      "idle | 0/1 | Pending | 0 | AGE | back",
      "web | 1/1 | Running | 0 | AGE |",
    ]);
    expect((await kubectl.ok("get pods --no-headers")).split("\n")[0]).toMatch(/^idle +0\/1 +Pending +0 +\d+s$/);
  });

  it.each([
    ["-l app=web", ["pod/web"]],
    ["-l app!=web", ["pod/idle"]],
    ["-l tier", ["pod/idle"]],
    ["-l !tier", ["pod/web"]],
    ["--field-selector status.phase=Pending", ["pod/idle"]],
    ["--field-selector spec.nodeName=worker", ["pod/web"]],
    ["--field-selector metadata.name!=web,status.phase!=Running", ["pod/idle"]],
    ["--sort-by=.spec.nodeName", ["pod/idle", "pod/web"]],
    ["-l app=nobody", []],
  ])("selects and sorts: %s", async (selection, expected) => {
    const printed = await kubectl.ok(`get pods -o name ${selection}`);
    expect(printed.split("\n").filter((line) => line !== "")).toEqual(expected);
  });

  it("selects by set-based expressions, and sorts tables by a field", async () => {
    expect(await kubectl.ok(["get", "pods", "-o", "name", "-l", "app in (web, api), tier notin (back)"])).toBe(
      "pod/web\n",
    );
    const sorted = rowsOf(await kubectl.ok("get pods --sort-by=.status.phase"));
    expect(sorted.map((row) => row.split(" | ")[0])).toEqual(["NAME", "idle", "web"]);
    const byName = rowsOf(await kubectl.ok("get namespaces --sort-by={.metadata.name}"));
    expect(byName.map((row) => row.split(" | ")[0])).toEqual([
      "NAME",
      "default",
      "kube-node-lease",
      "kube-public",
      "kube-system",
    ]);
  });

  it("prints objects in every form that is asked for", async () => {
    expect(await kubectl.ok("get pods -o jsonpath={.items[*].metadata.name}")).toBe("idle web");
    expect(await kubectl.ok("get pod/web configmap/settings -o name")).toBe("pod/web\nconfigmap/settings\n");
    const columns = "custom-columns=POD:.metadata.name,CPU:.spec.containers[0].resources.requests.cpu";
    expect(rowsOf(await kubectl.ok(`get pods -o ${columns}`))).toEqual(["POD | CPU", "idle | <none>", "web | 100m"]);
    const template = "{{range .items}}{{.metadata.name}};{{end}}";
    expect(await kubectl.ok(["get", "pods", "-o", `go-template=${template}`])).toBe("idle;web;");
    expect(await kubectl.ok("get configmap settings -o yaml")).toMatch(
      /^apiVersion: v1\ndata:\n {2}key: value\nkind: ConfigMap\nmetadata:\n {2}creationTimestamp: "\S+Z"\n {2}labels:\n {4}app: web\n/,
    );
    expect(await kubectl.json("get pods,configmaps -l app=web")).toMatchObject({
      apiVersion: "v1",
      kind: "List",
      items: [
        { apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, status: { qosClass: "Burstable" } },
        { apiVersion: "v1", kind: "ConfigMap", data: { key: "value" } },
      ],
    });
  });

  it("streams changes with -w until it is stopped", async () => {
    const watch = kubectl.start("get pods -l app=watched -w");
    try {
      await kubectl.ok("create -f -", { input: pod({ name: "watched", labels: { app: "watched" } }) });
      await watch.prints("watched   0/1     Pending");
      await setStatus(kubectl, "/api/v1/namespaces/default/pods/watched", {
        ...RUNNING,
        phase: "Failed",
        reason: "Evicted",
      });
      await watch.prints("Evicted");
      expect(rowsOf(await watch.prints("Evicted"))).toEqual([
        "NAME | READY | STATUS | RESTARTS | AGE",
        "watched | 0/1 | Pending | 0 | AGE",
        "watched | 1/1 | Evicted | 0 | AGE",
      ]);
      await kubectl.ok("delete pod watched");
    } finally {
      await watch.stop();
    }
  });

  it("watches from an earlier revision what has changed since, deletions too", async () => {
    const input = configMap({ name: "brief" });
    await kubectl.ok("create -f -", { input });
    const revision = Number(await kubectl.ok("get configmap brief -o jsonpath={.metadata.resourceVersion}"));
    await kubectl.ok("label configmap brief seen=true");
    await kubectl.ok("delete configmap brief");
    const query = `watch=true&timeoutSeconds=1&resourceVersion=${revision - 1}&fieldSelector=metadata.name%3Dbrief`;
    const events = await kubectl.ok(`get --raw /api/v1/namespaces/default/configmaps?${query}`);
    const types = events
      .trimEnd()
      .split("\n")
      .map((line) => /^\{"type":"(\w+)"/.exec(line)?.[1]);
    expect(types).toEqual(["ADDED", "MODIFIED", "DELETED"]);
  });

  it("says what is not there and what it cannot select by", async () => {
    expect(await kubectl.run("get pod web nobody")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^web +1\/1/m),
      stderr: 'Error from server (NotFound): pods "nobody" not found\n',
    });
    expect(await kubectl.fails("get gadgets")).toBe(`error: the server doesn't have a resource type "gadgets"\n`);
    expect(await kubectl.fails("get pods --field-selector color=red")).toBe(
      'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", field selector "color=red": field label not supported: color\n',
    );
    expect(await kubectl.run("get pods -n nowhere")).toEqual({
      code: 0,
      stdout: "",
      stderr: "No resources found in nowhere namespace.\n",
    });
  });
});
