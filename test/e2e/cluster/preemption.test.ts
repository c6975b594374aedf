import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { NODES } from "../../../src/api/kube-resource.ts";
import { isTerminalPhase } from "../../../src/api/pods.ts";
import { quantityMilliValue } from "../../../src/api/quantity.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const SERVERS = await clusterServersUnderTest();
const PLACES = 4;
const MESSAGE = "Preempted in order to admit critical pod";
const isFailed = (pod: Pod) => pod.status?.phase === "Failed";
const asking = (cpu: number) => ({ resources: { requests: { cpu: `${cpu}m`, memory: "16Mi" } } });
const owning = (cpu: number) => {
  const amounts = { cpu: `${cpu}m`, memory: "16Mi" };
  return { resources: { requests: amounts, limits: amounts } };
};

describe.each(SERVERS)("a critical pod on a full node, on $name", (server) => {
  let world: ClusterNode;
  /** What the node has to give. */
  let millicores: number;
  beforeAll(async () => {
    world = await createClusterNode({ server, configuration: { maxPods: PLACES } });
    await world.node.start(world.flags);
    const isTold = async () => {
      const { items } = await world.api.list("/api/v1/nodes");
      const allocatable = items.map((item) => NODES.read(item).status?.allocatable?.["cpu"] ?? "0");
      millicores = Number(quantityMilliValue(allocatable[0] ?? "0"));
      return millicores > 0;
    };
    await settlesOn(true, isTold, 20_000);
  });
  afterAll(async () => await world?.destroy());

  const run = async (name: string, container: object = {}) => {
    await world.create(shellPod(name, RUN_FOR_EVER, {}, container));
    return await world.pod(name, isRunning);
  };
  const writeStatic = async (name: string, container: object = {}) =>
    await world.node.write(`${name}.json`, shellPod(name, RUN_FOR_EVER, {}, container));

  it("gets the place of one that matters less, which is told why", async () => {
    const half = Math.floor(millicores / 2);
    await run("burstable", asking(half - 50));
    const before = await run("guaranteed", owning(half - 50));
    await writeStatic("vital", asking(200));
    await world.pod("vital-e2e", isRunning);
    const { status } = await world.pod("burstable", (pod) => isTerminalPhase(pod.status?.phase) && isOver(pod));
    // Its container ended with 0 when it was asked to.
    expect(status).toMatchObject({ phase: "Succeeded", reason: "Preempting", message: MESSAGE });
    const reason = "TerminationByKubelet";
    const message = "Pod was preempted by Kubelet to accommodate a critical pod.";
    const target = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
    expect(target).toMatchObject({ status: "True", reason, message });
    await world.event("burstable", { type: "Warning", reason: "Preempting", message: MESSAGE });
    const after = await world.pod("guaranteed", isRunning);
    expect(containerOf(after, "main")?.containerID).toBe(containerOf(before, "main")?.containerID);
  });

  it("gets a place of one that asks for nothing where there are no more places", async () => {
    await run("idle-a");
    await run("idle-b");
    await writeStatic("small");
    await world.pod("small-e2e", isRunning);
    const idle = await Promise.all(["idle-a", "idle-b"].map(async (name) => await world.read(name)));
    const verdicts = idle.map((pod) => pod?.status?.reason ?? pod?.status?.phase).toSorted();
    expect(verdicts).toEqual(["Preempting", "Running"]);
    await world.pod("guaranteed", isRunning);
  });

  it("is refused where all that matter less would not make room for it, and nobody ends for it", async () => {
    await writeStatic("huge", asking(2 * millicores));
    await world.node.logged(/Pod is refused.*huge-e2e/);
    const huge = await world.node.pod("huge", isFailed);
    expect(huge.status).toMatchObject({
      reason: "UnexpectedAdmissionError",
      message: expect.stringContaining("no set of running pods found to reclaim resources: [("),
    });
    for (const name of ["guaranteed", "vital-e2e", "small-e2e"]) await world.pod(name, isRunning);
  });
});

const isOver = (pod: Pod) => containerOf(pod, "main")?.state?.terminated !== undefined;
