import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { typed } from "../../../src/api/object.ts";
import { RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const PODS = "/api/v1/namespaces/default/pods";
const REPLICAS = 3;

describe("a deployment on a real node", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode();
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const readPods = async (): Promise<readonly Pod[]> => {
    const { items } = await world.api.list(PODS, { labelSelector: "app=web" });
    return items.map((item) => typed("Pod", { ...item, kind: "Pod" }));
  };
  const versionOf = ({ metadata }: Pod) => metadata?.annotations?.["version"];
  const template = (version: string) => {
    const { spec } = Object(shellPod("web", RUN_FOR_EVER, { nodeName: NODE_NAME }));
    return { metadata: { labels: { app: "web" }, annotations: { version } }, spec };
  };

  it("runs its pods, replaces them by those of a new template, and takes all of them along", async () => {
    const spec = { replicas: REPLICAS, selector: { matchLabels: { app: "web" } }, template: template("1") };
    await world.api.object("POST", DEPLOYMENTS, { apiVersion: "apps/v1", metadata: { name: "web" }, spec });
    const read = async () => await world.api.object("GET", `${DEPLOYMENTS}/web`);
    const complete = { replicas: REPLICAS, updatedReplicas: REPLICAS, availableReplicas: REPLICAS };
    await expect.poll(read).toMatchObject({ status: { ...complete, observedGeneration: 1 } });
    const before = (await readPods()).map(({ metadata }) => metadata?.uid ?? "");

    await world.api.patch("strategic", `${DEPLOYMENTS}/web`, { spec: { template: template("2") } });
    await expect.poll(read).toMatchObject({ status: { ...complete, observedGeneration: 2 } });
    await expect.poll(async () => (await readPods()).map(versionOf)).toEqual(["2", "2", "2"]);
    const after = await readPods();
    expect(after.map(({ status }) => status?.phase)).toEqual(["Running", "Running", "Running"]);
    expect(after.filter(({ metadata }) => before.includes(metadata?.uid ?? ""))).toEqual([]);

    await world.api.json("DELETE", `${DEPLOYMENTS}/web`, { propagationPolicy: "Foreground" });
    await expect.poll(readPods).toEqual([]);
    expect((await world.api.list(DEPLOYMENTS)).items).toEqual([]);
  });
});
