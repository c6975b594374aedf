import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";

const SERVERS = await clusterServersUnderTest();

describe.each(SERVERS)("a node of a cluster, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  it("runs a pod that the API binds to it, and lets go of it when it is deleted", async () => {
    await world.create(shellPod("web", RUN_FOR_EVER));
    const pod = await world.pod("web", isRunning);
    expect(pod.status?.podIP).toMatch(/^10\./);
    expect(pod.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
    await world.remove("web");
    await world.gone("web");
  });
});
