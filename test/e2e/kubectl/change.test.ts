import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { newestKubectl } from "./kubectl-binaries.ts";
import { configMap, pod, workload } from "./manifests.ts";

const { minor } = newestKubectl();

describe("kubectl changing objects", () => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    kubectl = cluster.kubectl;
    const items = [configMap({ name: "settings" }), pod({ name: "web" }), workload("Deployment", { name: "app" })];
    await kubectl.ok("create -f -", { input: { apiVersion: "v1", kind: "List", items } });
  });
  afterAll(async () => await cluster?.stop());

  const field = async (object: string, path: string) => await kubectl.ok(`get ${object} -o jsonpath={${path}}`);
  const patch = (object: string, body: unknown, ...flags: string[]) => [
    "patch",
    object,
    "-p",
    JSON.stringify(body),
    ...flags,
  ];

  it("labels, and overwrites only when told to", async () => {
    expect(await kubectl.ok("label pod web tier=front")).toBe("pod/web labeled\n");
    expect(await kubectl.fails("label pod web tier=back")).toBe(
      "error: 'tier' already has a value (front), and --overwrite is false\n",
    );
    expect(await kubectl.ok("label pod web tier=back --overwrite")).toBe("pod/web labeled\n");
    expect(await field("pod/web", ".metadata.labels.tier")).toBe("back");
    expect(await kubectl.ok("label pod web tier-")).toMatch(/^pod\/web (un)?labeled\n$/);
    expect(await field("pod/web", ".metadata.labels")).toBe("");
    expect(await kubectl.fails(["label", "pod", "web", "a label=x"])).toContain(
      `The Pod "web" is invalid: metadata.labels: Invalid value: "a label": name part must consist of alphanumeric characters`,
    );
    expect(await kubectl.fails("label pod web a=b --resource-version=1")).toBe(
      'Error from server (Conflict): Operation cannot be fulfilled on pods "web": the object has been modified; please apply your changes to the latest version and try again\n',
    );
  });

  it("annotates, and overwrites only when told to", async () => {
    expect(await kubectl.ok("annotate configmap settings note=one")).toMatch(/^configmap\/settings annotated?\n$/);
    expect(await kubectl.fails("annotate configmap settings note=two")).toContain("'note' already has a value (one)");
    await kubectl.ok("annotate --overwrite configmap settings note=two");
    expect(await field("configmap/settings", ".metadata.annotations.note")).toBe("two");
    await kubectl.ok("annotate configmap settings note-");
    expect(await field("configmap/settings", ".metadata.annotations")).toBe("");
  });

  it("patches: strategic by default, merge, and JSON", async () => {
    const sidecar = { spec: { template: { spec: { containers: [{ name: "sidecar", image: "b:1" }] } } } };
    expect(await kubectl.ok(patch("deployment/app", sidecar))).toBe("deployment.apps/app patched\n");
    const names = ".spec.template.spec.containers[*].name";
    expect((await field("deployment/app", names)).split(" ").toSorted()).toEqual(["main", "sidecar"]);
    await kubectl.ok(patch("deployment/app", sidecar, "--type=merge"));
    expect(await field("deployment/app", names)).toBe("sidecar");
    const operations = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "b:2" }];
    await kubectl.ok(patch("deployment/app", operations, "--type=json"));
    expect(await field("deployment/app", ".spec.template.spec.containers[0].image")).toBe("b:2");
    expect(await field("deployment/app", ".metadata.generation")).toBe("4");
    const nothing = { data: { key: "value" } };
    expect(await kubectl.ok(patch("configmap/settings", nothing))).toBe("configmap/settings patched (no change)\n");
  });

  it("refuses patches that do not fit", async () => {
    const missing = [{ op: "remove", path: "/data/nothing" }];
    expect(await kubectl.fails(patch("configmap/settings", missing, "--type=json"))).toMatch(
      /^The request is invalid: /,
    );
    const untrue = [{ op: "test", path: "/data/key", value: "other" }];
    expect(await kubectl.fails(patch("configmap/settings", untrue, "--type=json"))).toContain("test");
    expect(await kubectl.fails(patch("configmap/settings", { data: 5 }))).toContain(
      "data: expected object, got integer 5",
    );
    const renamed = { metadata: { name: "other" } };
    expect(await kubectl.fails(patch("configmap/settings", renamed))).toContain(
      "the name of the object (other) does not match",
    );
    expect(await kubectl.fails(patch("configmap/nobody", {}))).toContain('configmaps "nobody" not found');
  });

  it.runIf(minor >= 24)("patches the status alone with --subresource=status", async () => {
    const both = {
      metadata: { labels: { from: "status" } },
      spec: { activeDeadlineSeconds: 9 },
      status: { phase: "Running" },
    };
    const flags = ["--subresource=status", "--type=merge"];
    expect(await kubectl.ok(patch("pod/web", both, ...flags))).toBe("pod/web patched\n");
    expect(await field("pod/web", ".status.phase")).toBe("Running");
    expect(await field("pod/web", ".spec.activeDeadlineSeconds")).toBe("");
    expect(await kubectl.ok("get pod web --subresource=status -o jsonpath={.status.phase}")).toBe("Running");
    expect(await kubectl.ok(patch("pod/web", { status: { phase: "Failed" } }))).toBe("pod/web patched (no change)\n");
    expect(await kubectl.fails(patch("configmap/settings", { data: {} }, "--subresource=status"))).toContain(
      "NotFound",
    );
  });

  it("edits what an editor changed, and nothing when it changed nothing", async () => {
    const editor = async (name: string, script: string) => {
      const path = join(cluster.directory, name);
      await writeFile(path, `#!/bin/sh\nsed -i '${script}' "$1"\n`);
      await chmod(path, 0o755);
      return { env: { KUBE_EDITOR: path } };
    };
    const change = await editor("change", "s/key: .*/key: edited/");
    expect(await kubectl.ok("edit configmap settings", change)).toBe("configmap/settings edited\n");
    expect(await field("configmap/settings", ".data.key")).toBe("edited");
    const { stdout, stderr } = await kubectl.run("edit configmap settings", change);
    expect(`${stdout}${stderr}`).toContain("Edit cancelled, no changes made.");
    const rename = await editor("rename", "s/name: web/name: other/");
    expect(await kubectl.fails("edit pod web", rename)).toMatch(
      /At least one of apiVersion, kind and name was changed/,
    );
  });

  it("replaces the whole object, and by deletion with --force", async () => {
    await kubectl.ok("annotate configmap settings note=gone-after-replace");
    const whole = configMap({ name: "settings" }, { other: "1" });
    expect(await kubectl.ok("replace -f -", { input: whole })).toBe("configmap/settings replaced\n");
    expect(await field("configmap/settings", ".data")).toBe('{"other":"1"}');
    expect(await field("configmap/settings", ".metadata.annotations")).toBe("");
    expect(await kubectl.fails("replace -f -", { input: configMap({ name: "nobody" }) })).toBe(
      'Error from server (NotFound): error when replacing "STDIN": configmaps "nobody" not found\n',
    );
    const stale = { ...whole, metadata: { name: "settings", resourceVersion: "1" } };
    expect(await kubectl.fails("replace -f -", { input: stale })).toContain("the object has been modified");
    const before = await field("configmap/settings", ".metadata.uid");
    await kubectl.ok("replace --force -f -", { input: whole });
    expect(await field("configmap/settings", ".metadata.uid")).not.toBe(before);
  });

  it("scales, and only from the expected number when one is given", async () => {
    expect(await kubectl.ok("scale deployment app --replicas=3")).toBe("deployment.apps/app scaled\n");
    expect(await field("deployment/app", ".spec.replicas")).toBe("3");
    expect(await kubectl.fails("scale deployment app --current-replicas=9 --replicas=1")).toContain(
      "Expected replicas to be 9, was 3\n",
    );
    expect(await kubectl.fails("scale configmap settings --replicas=1")).toContain(
      "the server could not find the requested resource",
    );
  });

  it("sets images, environments and resources of a template", async () => {
    expect(await kubectl.ok("set image deployment/app sidecar=b:3")).toBe("deployment.apps/app image updated\n");
    expect(await kubectl.ok("set env deployment/app COLOR=red")).toBe("deployment.apps/app env updated\n");
    expect(await kubectl.ok("set resources deployment/app --limits=cpu=1")).toBe(
      "deployment.apps/app resource requirements updated\n",
    );
    const [container] = [await field("deployment/app", ".spec.template.spec.containers[0]")];
    expect(JSON.parse(container ?? "")).toMatchObject({
      image: "b:3",
      env: [{ name: "COLOR", value: "red" }],
      resources: { limits: { cpu: "1" } },
    });
    expect(await kubectl.ok("rollout restart deployment/app")).toBe("deployment.apps/app restarted\n");
    const history = async () => await kubectl.ok("rollout history deployment/app");
    await expect.poll(history).toMatch(/^deployment\.apps\/app *\nREVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>\n/);
  });
});
