import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { newestKubectl } from "./kubectl-binaries.ts";
import { configMap, pod, workload } from "./manifests.ts";

const { minor } = newestKubectl();

describe("kubectl apply", () => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    kubectl = cluster.kubectl;
  });
  afterAll(async () => await cluster?.stop());

  const dataOf = async (name: string): Promise<unknown> =>
    JSON.parse(await kubectl.ok(`get configmap ${name} -o jsonpath={.data}`));

  it("creates, leaves alone what is the same, and removes what is no longer in the manifest", async () => {
    const full = configMap({ name: "three-way", labels: { a: "1", b: "2" } }, { kept: "1", dropped: "2" });
    expect(await kubectl.ok("apply -f -", { input: full })).toBe("configmap/three-way created\n");
    expect(await kubectl.ok("apply -f -", { input: full })).toBe("configmap/three-way unchanged\n");
    await kubectl.ok(["patch", "configmap", "three-way", "-p", '{"data":{"foreign":"3"}}']);
    const less = configMap({ name: "three-way", labels: { a: "1" } }, { kept: "4" });
    expect(await kubectl.ok("apply -f -", { input: less })).toBe("configmap/three-way configured\n");
    expect(await kubectl.json("get configmap three-way")).toMatchObject({ data: { kept: "4", foreign: "3" } });
    expect(await dataOf("three-way")).toEqual({ kept: "4", foreign: "3" });
    expect(await kubectl.ok("get configmap three-way -o jsonpath={.metadata.labels}")).toBe('{"a":"1"}');
  });

  it("merges the lists of a pod template by name", async () => {
    const container = (name: string, image: string) => ({ name, image });
    const deployment = (...containers: object[]) =>
      workload(
        "Deployment",
        { name: "lists" },
        {
          selector: { matchLabels: { app: "lists" } },
          template: { metadata: { labels: { app: "lists" } }, spec: { containers } },
        },
      );
    await kubectl.ok("apply -f -", { input: deployment(container("one", "a:1"), container("two", "b:1")) });
    const sidecar = { spec: { template: { spec: { containers: [container("injected", "c:1")] } } } };
    await kubectl.ok(["patch", "deployment", "lists", "-p", JSON.stringify(sidecar)]);
    await kubectl.ok("apply -f -", { input: deployment(container("one", "a:2")) });
    const images = "jsonpath={range .spec.template.spec.containers[*]}{.name}={.image} {end}";
    const printed = await kubectl.ok(["get", "deployment", "lists", "-o", images]);
    expect(printed.trim().split(" ").toSorted()).toEqual(["injected=c:1", "one=a:2"]);
  });

  it("shows without doing it: --dry-run=server and diff", async () => {
    const before = configMap({ name: "dry" }, { a: "old" });
    const after = configMap({ name: "dry" }, { a: "new" });
    expect(await kubectl.ok("apply --dry-run=server -f -", { input: before })).toBe(
      "configmap/dry created (server dry run)\n",
    );
    expect(await kubectl.fails("get configmap dry")).toContain("NotFound");
    await kubectl.ok("apply -f -", { input: before });
    expect(await kubectl.ok("apply --dry-run=server -f -", { input: after })).toBe(
      "configmap/dry configured (server dry run)\n",
    );
    expect(await kubectl.run("diff -f -", { input: before })).toMatchObject({ code: 0, stdout: "" });
    const { code, stdout } = await kubectl.run("diff -f -", { input: after });
    expect(code).toBe(1);
    expect(stdout).toContain("\n-  a: old\n+  a: new\n");
    expect(await dataOf("dry")).toEqual({ a: "old" });
  });

  it("prunes by label what is no longer applied", async () => {
    const labels = { app: "pruned" };
    const items = [configMap({ name: "stays", labels }), configMap({ name: "goes", labels })];
    const list = (...kept: object[]) => ({ apiVersion: "v1", kind: "List", items: kept });
    await kubectl.ok("apply -f -", { input: list(...items) });
    // The kinds that an old kubectl prunes by default are served by no new cluster.
    const kinds = minor >= 26 ? "" : " --prune-whitelist=core/v1/ConfigMap";
    const printed = await kubectl.ok(`apply --prune -l app=pruned${kinds} -f -`, { input: list(...items.slice(0, 1)) });
    expect(printed).toContain("configmap/stays unchanged\n");
    expect(printed).toContain("configmap/goes pruned\n");
    expect(await kubectl.ok("get configmaps -l app=pruned -o name")).toBe("configmap/stays\n");
  });

  it("applies on the server, names the owners of fields in a conflict, and takes them with --force-conflicts", async () => {
    const apply = (value: string, ...flags: string[]) =>
      kubectl.run(["apply", "--server-side", ...flags, "-f", "-"], {
        input: configMap({ name: "ssa" }, { key: value }),
      });
    expect(await apply("one")).toMatchObject({ code: 0, stdout: "configmap/ssa serverside-applied\n" });
    const { code, stderr } = await apply("two", "--field-manager=other");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: Apply failed with 1 conflict: conflict with "kubectl": \.data\.key\n/);
    expect(await apply("two", "--field-manager=other", "--force-conflicts")).toMatchObject({ code: 0 });
    expect(await dataOf("ssa")).toEqual({ key: "two" });
    const managed = minor >= 21 ? "get configmap ssa --show-managed-fields" : "get configmap ssa";
    expect(await kubectl.json(managed)).toMatchObject({
      metadata: { managedFields: [{ manager: "other", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1" }] },
    });
    expect((await apply("three")).stderr).toContain('conflict with "other": .data.key');
  });

  it("finds a conflict with what others changed by update, and lists several", async () => {
    await kubectl.ok("create -f -", { input: configMap({ name: "mixed" }, { a: "1", b: "1" }) });
    const mine = configMap({ name: "mixed" }, { a: "2", b: "2" });
    const { code, stderr } = await kubectl.run("apply --server-side --field-manager=me -f -", { input: mine });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: Apply failed with 2 conflicts: conflicts with "kubectl-create" using v1:\n- \.data\.a\n- \.data\.b\n/,
    );
  });

  it("goes from client-side to server-side without a conflict", async () => {
    const before = configMap({ name: "migrated" }, { a: "1" });
    await kubectl.ok("apply -f -", { input: before });
    const after = configMap({ name: "migrated" }, { a: "2" });
    expect(await kubectl.ok("apply --server-side -f -", { input: after })).toBe(
      "configmap/migrated serverside-applied\n",
    );
    expect(await dataOf("migrated")).toEqual({ a: "2" });
  });

  it("applies a kustomization", async () => {
    await writeFile(join(cluster.directory, "map.json"), JSON.stringify(configMap({ name: "base" })));
    const kustomization =
      'namePrefix: dev-\nresources: [map.json]\nconfigMapGenerator: [{name: made, literals: ["a=b"]}]\n';
    await writeFile(join(cluster.directory, "kustomization.yaml"), kustomization);
    const printed = await kubectl.ok(["apply", "-k", cluster.directory]);
    expect(printed).toMatch(/^configmap\/dev-base created\nconfigmap\/dev-made-\w{10} created\n$/);
  });

  it("sets, and deletes with, the namespace of the command", async () => {
    await kubectl.ok("create namespace elsewhere");
    expect(await kubectl.ok("apply -n elsewhere -f -", { input: pod({ name: "far" }) })).toBe("pod/far created\n");
    expect(await kubectl.ok("get pods -n elsewhere -o name")).toBe("pod/far\n");
    const input = pod({ name: "far", namespace: "default" });
    expect(await kubectl.fails("apply -n elsewhere -f -", { input })).toContain(
      'the namespace from the provided object "default" does not match the namespace "elsewhere"',
    );
    expect(await kubectl.fails("apply -n nowhere -f -", { input: pod({ name: "lost" }) })).toContain(
      'namespaces "nowhere" not found',
    );
  });
});
