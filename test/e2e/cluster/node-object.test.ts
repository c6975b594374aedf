import { rename } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Node } from "../../../src/api/gen/types.ts";
import { LEASES } from "../../../src/api/kube-resource.ts";
import { quantityValue } from "../../../src/api/quantity.ts";
import { computeRuntimeLayout } from "../../../src/cluster/containerd/runtime-layout.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { readRunningContainers } from "../runtime-state.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const SERVERS = await clusterServersUnderTest();

const NODE_PATH = `/api/v1/nodes/${NODE_NAME}`;
const CONFIGURATION = {
  nodeStatusUpdateFrequency: "1s",
  // Without it, it would be as short as the other.
  nodeStatusReportFrequency: "5m",
  nodeLeaseDurationSeconds: 4,
  maxPods: 42,
  systemReserved: { cpu: "100m", memory: "64Mi" },
  kubeReserved: { memory: "36Mi" },
  registerWithTaints: [{ key: "example.com/dedicated", value: "ci", effect: "PreferNoSchedule" }],
};
const LABELS = "--node-labels=example.com/pool=a,node.kubernetes.io/instance-type=big";

const conditionOf = (node: Node, type: string) => node.status?.conditions?.find((condition) => condition.type === type);

/** The cases go on from one another: a node is registered once. */
describe.each(SERVERS)("the node's own object, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server, configuration: CONFIGURATION });
    await world.node.start([...world.flags, LABELS]);
  });
  afterAll(async () => await world?.destroy());

  const ready = async () => conditionOf(await world.nodeObject(), "Ready");
  const registered = async () => {
    await expect.poll(async () => (await world.api.json("GET", NODE_PATH)).status, { interval: 10 }).toBe(200);
    await expect.poll(async () => (await ready())?.status, { timeout: 10_000 }).toBe("True");
    return await world.nodeObject();
  };
  const restart = async (...flags: string[]) => {
    await world.node.stop();
    await world.node.start([...world.flags, ...flags]);
  };
  const readLease = async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NODE_NAME}`;
    return LEASES.read(await world.api.object("GET", path));
  };

  it("says what the node is and whose it is to use", async () => {
    const { metadata, spec, status } = await registered();
    expect(metadata?.labels).toMatchObject({
      "kubernetes.io/hostname": NODE_NAME,
      "kubernetes.io/os": "linux",
      "kubernetes.io/arch": process.arch === "x64" ? "amd64" : process.arch,
      "beta.kubernetes.io/os": "linux",
      "beta.kubernetes.io/arch": process.arch === "x64" ? "amd64" : process.arch,
      "node.kubernetes.io/instance-type": "big",
      "example.com/pool": "a",
    });
    expect(metadata?.annotations).toMatchObject({ "volumes.kubernetes.io/controller-managed-attach-detach": "true" });
    expect(spec?.taints).toContainEqual({ key: "example.com/dedicated", value: "ci", effect: "PreferNoSchedule" });
    expect(status?.addresses).toEqual([
      { type: "InternalIP", address: expect.stringMatching(/^[0-9a-f.:]+$/) },
      { type: "Hostname", address: NODE_NAME },
    ]);
    expect(status?.nodeInfo).toMatchObject({
      operatingSystem: "linux",
      kernelVersion: release(),
      osImage: expect.stringMatching(/\S/),
      containerRuntimeVersion: expect.stringMatching(/^containerd:\/\/\d/),
      kubeletVersion: expect.stringMatching(/^v1\.\d+\./),
      bootID: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(status?.daemonEndpoints?.kubeletEndpoint?.Port).toBe(0);
  });

  it("says what it has, and what of it pods may have", async () => {
    const { capacity = {}, allocatable = {} } = (await world.nodeObject()).status ?? {};
    const mebibytes = (text = "") => Number.parseInt(text, 10) / 1024;
    expect(capacity).toMatchObject({
      pods: "42",
      cpu: expect.stringMatching(/^\d+$/),
      memory: expect.stringMatching(/^\d+Ki$/),
    });
    expect(capacity["ephemeral-storage"]).toMatch(/^\d+(Ki|Mi)?$/);
    expect(allocatable["cpu"]).toBe(`${Number(capacity["cpu"]) * 1000 - 100}m`);
    // The threshold of eviction, 100Mi, is not theirs either, nor what the machine keeps as huge pages.
    const sizesOfHugePages = Object.entries(capacity).filter(([name]) => name.startsWith("hugepages-"));
    const huge = sizesOfHugePages.reduce((sum, [, text]) => sum + Number(quantityValue(text)), 0) / 2 ** 20;
    expect(mebibytes(capacity["memory"]) - mebibytes(allocatable["memory"])).toBe(64 + 36 + 100 + huge);
    expect(allocatable["pods"]).toBe("42");
  });

  it("says how it is, and which images it has", async () => {
    const node = await world.nodeObject();
    expect(node.status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
      "MemoryPressure False KubeletHasSufficientMemory",
      "DiskPressure False KubeletHasNoDiskPressure",
      "PIDPressure False KubeletHasSufficientPID",
      "Ready True KubeletReady",
    ]);
    expect(conditionOf(node, "Ready")?.message).toBe("kubelet is posting ready status");
    const images = async () => ((await world.nodeObject()).status?.images ?? []).flatMap(({ names }) => names ?? []);
    await expect.poll(images).toContain(DEMO_IMAGE);
  });

  it("has a lease that is renewed, while its status is sent only when something changes", async () => {
    const { metadata: owner } = await registered();
    const { metadata, spec } = await readLease();
    expect(spec).toMatchObject({ holderIdentity: NODE_NAME, leaseDurationSeconds: 4 });
    expect(metadata?.ownerReferences).toMatchObject([{ kind: "Node", name: NODE_NAME, uid: owner?.uid }]);
    const before = await world.nodeObject();
    let last = spec?.renewTime;
    for (let renewals = 0; renewals < 2; renewals++) {
      await expect.poll(async () => (await readLease()).spec?.renewTime, { timeout: 4_000 }).not.toBe(last);
      last = (await readLease()).spec?.renewTime;
    }
    const after = await world.nodeObject();
    expect(after).toEqual(before);
  });

  it("is taken as it is by the next run, which mends what is the node's to say and nothing else", async () => {
    const { metadata } = await world.nodeObject();
    const labels = { "kubernetes.io/arch": null, "kubernetes.io/os": "plan9", "example.com/mine": "1" };
    await world.api.patch("merge", NODE_PATH, { metadata: { labels }, spec: { unschedulable: true } });
    await restart("--node-labels=example.com/pool=b,node.kubernetes.io/instance-type=small");
    await expect
      .poll(async () => (await world.nodeObject()).metadata?.labels?.["node.kubernetes.io/instance-type"])
      .toBe("small");
    const node = await registered();
    expect(node.metadata?.uid).toBe(metadata?.uid);
    expect(node.metadata?.labels).toMatchObject({
      "kubernetes.io/os": "linux",
      "kubernetes.io/arch": metadata?.labels?.["kubernetes.io/arch"],
      "example.com/mine": "1",
      // A label of the node's own making is for its first registration (upstream's updateDefaultLabels).
      "example.com/pool": "a",
    });
    expect(node.spec?.unschedulable).toBe(true);
  });

  it("is not ready while there is no runtime, or no network, says why, and is ready again with both", async () => {
    const settled = { timeout: 10_000, interval: 20 };
    const verdict = async () => {
      const { status, reason, message } = (await ready()) ?? {};
      return `${status} ${reason}: ${message}`;
    };
    const { cniConfigDirectory } = computeRuntimeLayout(join(world.node.directory, "runtime"));
    const [configuration, aside] = [join(cniConfigDirectory, "10-nodelet.conflist"), join(cniConfigDirectory, "aside")];
    await world.node.endContainerd("killed");
    await expect.poll(verdict, settled).toMatch(/^False KubeletNotReady: .*container runtime is down/);
    await world.event(NODE_NAME, { reason: "NodeNotReady", message: `Node ${NODE_NAME} status is now: NodeNotReady` });
    await world.node.startContainerd();
    await rename(configuration, aside);
    await expect
      .poll(verdict, settled)
      .toMatch(
        /^False KubeletNotReady: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:/,
      );
    await world.create(shellPod("offline", RUN_FOR_EVER));
    await world.create(shellPod("on-host", RUN_FOR_EVER, { hostNetwork: true }));
    await world.event("offline", { type: "Warning", reason: "NetworkNotReady" });
    await world.pod("on-host", isRunning);
    await rename(aside, configuration);
    await expect.poll(verdict, settled).toMatch(/^True KubeletReady: /);
    await world.event(NODE_NAME, { reason: "NodeReady", message: `Node ${NODE_NAME} status is now: NodeReady` });
    await world.pod("offline", isRunning);
    for (const name of ["offline", "on-host"]) await world.remove(name);
    for (const name of ["offline", "on-host"]) await world.gone(name);
  });

  it("is made again when somebody deletes it, and the pods run on", async () => {
    await world.create(shellPod("stays", RUN_FOR_EVER));
    await world.pod("stays", isRunning);
    const before = await readRunningContainers(world.node);
    const { metadata } = await world.nodeObject();
    await world.api.object("DELETE", NODE_PATH);
    await expect
      .poll(async () => (await world.api.json("GET", NODE_PATH)).status, { timeout: 10_000, interval: 10 })
      .toBe(200);
    const node = await registered();
    expect(node.metadata?.uid).not.toBe(metadata?.uid);
    expect(node.metadata?.labels).toMatchObject({ "example.com/pool": "b" });
    const owner = async () => (await readLease()).metadata?.ownerReferences?.[0]?.uid;
    await expect.poll(owner, { timeout: 10_000 }).toBe(node.metadata?.uid);
    expect(await readRunningContainers(world.node)).toEqual(before);
    await world.remove("stays");
    await world.gone("stays");
  });

  it("is somebody else's to make where the node shall not register", async () => {
    await world.node.stop();
    await world.api.object("DELETE", NODE_PATH);
    await world.node.start([...world.flags, "--register-node=false"]);
    const { length: from } = world.node.log();
    await world.node.logged(/Finding the node's object/, { from: Math.max(0, from - 5_000) });
    expect((await world.api.json("GET", NODE_PATH)).status).toBe(404);
    await world.create(shellPod("waits", RUN_FOR_EVER));
    await world.api.object("POST", "/api/v1/nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: NODE_NAME, labels: { "example.com/by": "hand" } },
    });
    const node = await registered();
    expect(node.metadata?.labels).toMatchObject({ "example.com/by": "hand" });
    expect(node.status?.capacity).toMatchObject({ pods: "42" });
    await settlesOn(true, async () => isRunning((await world.read("waits")) ?? {}), 10_000);
  });
});
