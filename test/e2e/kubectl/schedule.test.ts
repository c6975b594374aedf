import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { node, pod } from "./manifests.ts";

/** For the control plane's own scheduler. */
const scheduled = (name: string, requests: Record<string, string> = {}) =>
  pod({ name }, { schedulerName: "default-scheduler" }, { resources: { requests } });

describe("kubectl with the scheduler", () => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    kubectl = cluster.kubectl;
  });
  afterAll(async () => await cluster?.stop());

  const isScheduled = (name: string) => kubectl.ok(`wait pod ${name} --for=condition=PodScheduled --timeout=20s`);
  const nodeOf = (name: string) => kubectl.ok(`get pod ${name} -o jsonpath={.spec.nodeName}`);
  /** What `describe` says of it, once it says that it has no node. */
  const whyPending = async (name: string) => {
    await kubectl.ok(`wait pod ${name} --for=condition=PodScheduled=false --timeout=20s`);
    return await kubectl.ok(`describe pod ${name}`);
  };

  it("says that there is no node, and places the pod when one comes", async () => {
    await kubectl.ok("create -f -", { input: scheduled("early") });
    expect(await whyPending("early")).toMatch(
      /Warning +FailedScheduling +\S+ +default-scheduler +no nodes available to schedule pods$/m,
    );
    await kubectl.ok("create -f -", { input: node("worker") });
    await isScheduled("early");
    expect(await nodeOf("early")).toBe("worker");
    expect(await kubectl.ok("describe pod early")).toMatch(
      /Normal +Scheduled +\S+ +default-scheduler +Successfully assigned default\/early to worker$/m,
    );
  });

  it("says what is missing, and places the pod when it is there", async () => {
    await kubectl.ok("create -f -", { input: scheduled("first", { cpu: "3" }) });
    await isScheduled("first");
    await kubectl.ok("create -f -", { input: scheduled("second", { cpu: "3" }) });
    expect(await whyPending("second")).toContain(
      "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    );
    await kubectl.ok("delete pod first --force --grace-period=0");
    await isScheduled("second");
    expect(await nodeOf("second")).toBe("worker");
  });

  it("leaves a cordoned node alone", async () => {
    await kubectl.ok("cordon worker");
    await kubectl.ok("create -f -", { input: scheduled("later") });
    expect(await whyPending("later")).toContain("0/1 nodes are available: 1 node(s) were unschedulable.");
    await kubectl.ok("uncordon worker");
    await isScheduled("later");
  });
});
