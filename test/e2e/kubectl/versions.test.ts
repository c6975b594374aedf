import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { findKubectls } from "./kubectl-binaries.ts";
import { configMap, pod } from "./manifests.ts";
import { rowsOf } from "./tables.ts";

// The newest is here, too: it shows that what the others are asked is what is asked of all.
const [newest] = findKubectls();

if (findKubectls().length === 1) {
  console.warn(
    `SKIPPED: kubectl of other versions than 1.${newest?.minor}; name their programs in NODELET_TEST_KUBECTLS=path1:path2`,
  );
}

describe.each(findKubectls())("kubectl 1.$minor", (binary) => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest(binary);
    kubectl = cluster.kubectl;
  });
  afterAll(async () => await cluster?.stop());

  it("creates, reads, changes and deletes", async () => {
    expect(await kubectl.ok("create namespace team")).toBe("namespace/team created\n");
    expect(await kubectl.ok("apply -n team -f -", { input: pod({ name: "web" }) })).toBe("pod/web created\n");
    expect(await kubectl.ok("apply -n team -f -", { input: pod({ name: "web" }) })).toBe("pod/web unchanged\n");
    expect(rowsOf(await kubectl.ok("get pods -n team"))).toEqual([
      "NAME | READY | STATUS | RESTARTS | AGE",
      "web | 0/1 | Pending | 0 | AGE",
    ]);
    expect(await kubectl.ok("label pod web -n team tier=front")).toBe("pod/web labeled\n");
    expect(await kubectl.ok("describe pod web -n team")).toMatch(/^Labels: +tier=front$/m);
    const map = configMap({ name: "settings" });
    expect(await kubectl.ok("apply --server-side -f -", { input: map })).toBe(
      "configmap/settings serverside-applied\n",
    );
    await kubectl.ok(["patch", "configmap", "settings", "-p", '{"data":{"key":"other"}}']);
    expect(await kubectl.ok("get configmap settings -o jsonpath={.data.key}")).toBe("other");
    expect(await kubectl.ok("auth can-i delete pods -n team")).toBe("yes\n");
    expect(await kubectl.ok("explain pod.spec.containers")).toMatch(/name\t<string> -required-/);
    expect(await kubectl.ok("create deployment app --image=registry.example/app:1")).toBe(
      "deployment.apps/app created\n",
    );
    expect(await kubectl.ok("scale deployment app --replicas=2")).toBe("deployment.apps/app scaled\n");
    const broken = await kubectl.fails("apply -f -", { input: pod({ name: "broken" }, { restartPolice: "Never" }) });
    expect(broken).toMatch(/unknown field "(spec\.)?restartPolice"/);
    if (kubectl.minor >= 24)
      expect(await kubectl.ok("create token default -n team")).toMatch(/^ey[\w-]+\.[\w-]+\.[\w-]+\n?$/);
    await kubectl.ok("delete namespace team");
    expect(await kubectl.fails("get namespace team")).toBe(
      'Error from server (NotFound): namespaces "team" not found\n',
    );
  });
});
