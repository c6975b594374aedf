import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import { workload } from "./manifests.ts";

/** Neither has a pod: what kubectl reads and writes are the revisions. */
const SETS = [
  { kind: "StatefulSet", name: "statefulset", spec: { replicas: 0, serviceName: "none" } },
  { kind: "DaemonSet", name: "daemonset", spec: {} },
];

describe.each(SETS)("kubectl rollout of a $name", ({ kind, name, spec }) => {
  let cluster: ClusterUnderTest;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    await cluster.kubectl.ok("create -f -", { input: workload(kind, { name: "db" }, spec) });
  });
  afterAll(async () => await cluster?.stop());

  const revisions = async () => {
    const history = await cluster.kubectl.ok(`rollout history ${name}/db`);
    return [...history.matchAll(/^(\d+) /gm)].map(([, revision]) => revision);
  };
  const image = async () => {
    return await cluster.kubectl.ok(`get ${name} db -o jsonpath={.spec.template.spec.containers[0].image}`);
  };

  it("lists the revisions, shows one, and goes back to it", async () => {
    const { kubectl } = cluster;
    await expect.poll(revisions).toEqual(["1"]);
    const before = await image();
    await kubectl.ok(`set image ${name}/db main=registry.example/app:2`);
    await expect.poll(revisions).toEqual(["1", "2"]);
    expect(await kubectl.ok(`rollout history ${name}/db --revision=2`)).toContain("registry.example/app:2");
    expect(await kubectl.ok(`rollout undo ${name}/db`)).toBe(`${name}.apps/db rolled back\n`);
    expect(await image()).toBe(before);
    // The first revision is the newest now, and not there twice.
    await expect.poll(revisions).toEqual(["2", "3"]);
    expect(await kubectl.ok(`rollout undo ${name}/db --to-revision=2`)).toBe(`${name}.apps/db rolled back\n`);
    expect(await image()).toBe("registry.example/app:2");
    await expect.poll(revisions).toEqual(["3", "4"]);
  });
});
