import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { PODS } from "../../../src/api/kube-resource.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";

const SERVERS = await clusterServersUnderTest();

const GATE = "example.com/load-balanced";
const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((condition) => condition.type === type);

describe.each(SERVERS)("the readiness of pods, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const setGate = async (name: string, status: string) => {
    const conditions = [{ type: GATE, status, reason: "Asked", message: "by a test" }];
    await world.api.patch("strategic", `/api/v1/namespaces/default/pods/${name}/status`, { status: { conditions } });
  };

  it.concurrent("waits for what others say of the pod, and takes it back with them", async () => {
    await world.create(shellPod("gated", RUN_FOR_EVER, { readinessGates: [{ conditionType: GATE }] }));
    const waiting = await world.pod("gated", (pod) => conditionOf(pod, "ContainersReady")?.status === "True");
    expect(conditionOf(waiting, "Ready")).toMatchObject({
      status: "False",
      reason: "ReadinessGatesNotReady",
      message: `corresponding condition of pod readiness gate "${GATE}" does not exist.`,
    });
    await setGate("gated", "True");
    const ready = await world.pod("gated", (pod) => conditionOf(pod, "Ready")?.status === "True", 5_000);
    expect(conditionOf(ready, GATE)).toMatchObject({ status: "True", reason: "Asked", message: "by a test" });
    await setGate("gated", "False");
    const unready = await world.pod("gated", (pod) => conditionOf(pod, "Ready")?.status === "False", 5_000);
    expect(conditionOf(unready, "Ready")).toMatchObject({
      reason: "ReadinessGatesNotReady",
      message: `the status of pod readiness gate "${GATE}" is not "True", but False`,
    });
    expect(conditionOf(unready, GATE)).toMatchObject({ status: "False", reason: "Asked" });
  });

  it.concurrent("leaves conditions of others alone while the pod changes", async () => {
    await world.create(shellPod("others", "until test -e /tmp/end; do sleep 0.05; done", { restartPolicy: "Never" }));
    await world.pod("others", isRunning);
    await setGate("others", "True");
    await world.shell("others", "touch /tmp/end");
    const ended = await world.pod("others", ({ status }) => status?.phase === "Succeeded");
    expect(conditionOf(ended, GATE)).toMatchObject({ status: "True", reason: "Asked" });
    expect(conditionOf(ended, "Ready")).toMatchObject({ status: "False", reason: "PodCompleted" });
  });

  it.concurrent("comes in the order of the pod's start: scheduled, sandbox, initialised, ready", async () => {
    const initContainers = [{ name: "init", image: DEMO_IMAGE, command: ["sh", "-c", "sleep 0.3"] }];
    await world.create(shellPod("ordered", RUN_FOR_EVER, { initContainers }));
    const stream = await world.api.watch("/api/v1/namespaces/default/pods", { fieldSelector: "metadata.name=ordered" });
    const seen: string[] = [];
    await stream.until(({ object }) => {
      const { conditions = [] } = PODS.read(object).status ?? {};
      for (const { type, status } of conditions) if (status === "True" && !seen.includes(type)) seen.push(type);
      return seen.includes("Ready");
    });
    stream.close();
    const order = ["PodScheduled", "PodReadyToStartContainers", "Initialized"].map((type) => seen.indexOf(type));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
  });
});
