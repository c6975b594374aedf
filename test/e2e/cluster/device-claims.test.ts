import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { podResourcesOf } from "../pod-resources-of.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { readTestedRuntimes } from "../runtime-abilities.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";
import { createSampleDraDriver, DRIVER, type SampleDraDriver } from "./sample-dra-driver.ts";

const API = "/apis/resource.k8s.io/v1";
const CLAIMS = `${API}/namespaces/default/resourceclaims`;

const WAIT_TIMEOUT_MS = 30_000;

const runtimes = await readTestedRuntimes();
const servers = await clusterServersUnderTest();
/** Each API server on the first runtime, and each other runtime with the first API server. */
const worlds = [
  ...servers.map((server) => ({ server, runtime: runtimes[0] })),
  ...runtimes.slice(1).map((runtime) => ({ server: servers.at(-1), runtime })),
].map(({ server, runtime }) => ({ server, runtime, name: `${server?.name} and ${runtime?.name}` }));

describe.each(worlds)("device claims with $name", ({ server, runtime }) => {
  let world: ClusterNode;
  let driver: SampleDraDriver;
  beforeAll(async () => {
    world = await createClusterNode({
      ...(server && { server }),
      ...(runtime?.binary !== undefined && { binary: runtime.binary }),
    });
    driver = await createSampleDraDriver(world.node);
  });
  afterAll(async () => {
    await driver?.destroy();
    await world?.destroy();
  });

  const makeSlice = async (name: string) => {
    const pool = { name: "pool", generation: 1, resourceSliceCount: 1 };
    const spec = { driver: DRIVER, nodeName: NODE_NAME, pool, devices: [{ name: "one" }] };
    const slice = { apiVersion: "resource.k8s.io/v1", kind: "ResourceSlice", metadata: { name }, spec };
    return await world.api.json("POST", `${API}/resourceslices`, slice);
  };
  const makeClaim = async (name: string) => {
    const request = { name: "sample", exactly: { deviceClassName: "sample.example.com" } };
    const spec = { devices: { requests: [request] } };
    await world.api.object("POST", CLAIMS, {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: { name },
      spec,
    });
  };
  const allocate = async (name: string, podUid: string) => {
    const result = { request: "sample", driver: DRIVER, pool: "pool", device: "one" };
    const reservedFor = [{ resource: "pods", name, uid: podUid }];
    const status = { allocation: { devices: { results: [result] } }, reservedFor };
    await world.api.patch("merge", `${CLAIMS}/${name}/status`, { status });
  };

  it("are prepared by their driver, survive the agent, and are given back", async () => {
    if ((await makeSlice("left-behind")).status !== 201) {
      console.warn(`SKIPPED: ${server?.name} makes no device claims`);
      return;
    }
    await world.node.start(world.flags);
    const findSlice = async () => (await world.api.json("GET", `${API}/resourceslices/left-behind`)).status;
    await expect.poll(findSlice, { timeout: WAIT_TIMEOUT_MS }).toBe(404);

    await makeClaim("sample");
    const resourceClaims = [{ name: "mine", resourceClaimName: "sample" }];
    const resources = { claims: [{ name: "mine", request: "sample" }] };
    const { metadata } = await world.create(shellPod("sample", RUN_FOR_EVER, { resourceClaims }, { resources }));
    await world.event("sample", { type: "Warning", reason: "FailedPrepareDynamicResources" });
    await allocate("sample", metadata?.uid ?? "");
    await driver.start();
    const before = await world.pod("sample", isRunning);
    expect(driver.fake.calls).toEqual([["NodePrepareResources", "sample"]]);
    const injected = await world.shell("sample", "echo $SAMPLE");
    expect(injected.trim()).toBe(runtime?.injectsDevices === true ? "injected" : "");

    const { podResources } = await podResourcesOf(world.node);
    expect(podResources[0]?.containers[0]?.dynamicResources).toMatchObject([
      { claimName: "sample", claimResources: [{ driverName: DRIVER, cdiDevices: [{ name: driver.cdiName }] }] },
    ]);
    driver.fake.tellHealth([
      { poolName: "pool", deviceName: "one", health: "Unhealthy", message: "hot", timeoutMs: undefined },
    ]);
    const isIll = { resourceID: driver.cdiName, health: "Unhealthy", message: "hot" };
    const ill = await world.pod("sample", (pod) =>
      (containerOf(pod, "main")?.allocatedResourcesStatus ?? []).some(
        ({ resources: [first] = [] }) => first?.health === "Unhealthy",
      ),
    );
    expect(containerOf(ill, "main")?.allocatedResourcesStatus).toEqual([
      { name: "claim:mine/sample", resources: [isIll] },
    ]);

    await world.node.kill();
    await driver.stop();
    await world.node.start(world.flags);
    await driver.start();
    const after = await world.pod("sample", isRunning);
    expect(containerOf(after, "main")?.containerID).toBe(containerOf(before, "main")?.containerID);
    await world.remove("sample");
    await world.gone("sample");
    expect(driver.fake.calls.slice(1)).toEqual([["NodeUnprepareResources", "sample"]]);
  });
});
