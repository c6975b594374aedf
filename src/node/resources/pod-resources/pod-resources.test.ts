import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createMemoryServer } from "../../../grpc/fake/memory-server.ts";
import type { ServedService } from "../../../grpc/served-service.ts";
import { createService } from "../../../grpc/service.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { PodResourcesListerDefinition as V1 } from "../../../pod-resources/gen/pod-resources-v1.ts";
import { PodResourcesListerDefinition as V1Alpha1 } from "../../../pod-resources/gen/pod-resources-v1alpha1.ts";
import { createDeviceAssignments } from "../devices/device-assignments.ts";
import { createDeviceInventory } from "../devices/device-inventory.ts";
import { createPodUses } from "./pod-uses.ts";
import { createPodResourcesPart } from "./serve-pod-resources.ts";

const RESOURCE = "example.com/device";
const POD: Pod = {
  metadata: { uid: "uid-1", name: "web", namespace: "default" },
  spec: {
    initContainers: [{ name: "init" }, { name: "sidecar", restartPolicy: "Always" }],
    containers: [{ name: "main" }, { name: "plain" }],
  },
};
const NO_RESPONSE = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };

const CPUS = {
  exclusiveOf: (_uid: string, name: string) => (name === "main" ? [2, 3] : []),
  allocatable: [1, 2, 3],
};

const GIB = 1024 ** 3;
const MEMORY = {
  blocksOf: (_uid: string, name: string) =>
    name === "main" ? [{ numaNodes: [0, 1], resource: "memory", size: GIB }] : [],
  allocatable: [{ numaNodes: [1], resource: "hugepages-2Mi", size: 2 * GIB }],
};

const CLAIMED = {
  driver: "example.com",
  poolName: "pool",
  deviceName: "gpu-0",
  shareId: "share-1",
  requestNames: [],
  cdiDeviceIds: ["example.com/gpu=0"],
};
const CLAIMS = {
  usesOf: (_pod: Pod, { name }: Container) =>
    name === "plain" ? [{ namespace: "default", name: "gpu", devices: [CLAIMED] }] : [],
};

/** A node with four devices, of which a sidecar has one and a main container two. */
async function startServer() {
  const { clock, files } = createFakeHost();
  const inventory = createDeviceInventory();
  const assignments = createDeviceAssignments();
  const unused = async () => {
    throw new Error("nobody calls the plugin");
  };
  const client = {
    options: unused,
    listAndWatch: () => {
      throw new Error("nobody calls the plugin");
    },
    preferredAllocation: unused,
    allocate: unused,
    preStartContainer: unused,
    close: () => undefined,
  };
  const plugin = { client, options: { preStartRequired: false, preferredAllocationAvailable: false } };
  inventory.connect(RESOURCE, plugin);
  inventory.list(RESOURCE, plugin, [
    { id: "a", isHealthy: true, numaNodes: [0, 1] },
    { id: "b", isHealthy: true, numaNodes: [] },
    { id: "c", isHealthy: false, numaNodes: [] },
  ]);
  const give = (container: string, idsByNumaNode: ReadonlyMap<number, readonly string[]>) =>
    assignments.assign({
      podUid: "uid-1",
      container,
      resource: RESOURCE,
      devices: { idsByNumaNode, response: NO_RESPONSE },
    });
  give("init", new Map([[-1, ["b"]]]));
  give("sidecar", new Map([[-1, ["b"]]]));
  give("main", new Map([[1, ["a"]]]));
  const metrics = createMetrics();
  let served: readonly ServedService[] = [];
  const part = createPodResourcesPart(
    {
      clock,
      files,
      log: silentLog,
      metrics,
      source: createPodUses({
        activePods: () => [POD],
        inventory,
        assignments,
        cpus: CPUS,
        memory: MEMORY,
        deviceClaims: CLAIMS,
      }),
      async serve({ services }) {
        served = services;
        return { close: async () => undefined };
      },
    },
    "/var/lib/kubelet/pod-resources",
  );
  const controller = new AbortController();
  const running = part.run(controller.signal).catch(() => undefined);
  await clock.settle();
  const server = createMemoryServer({ clock, endpoint: "unix:///run/kubelet.sock", services: served });
  const connection = server.connect({ requestTimeoutMs: 10_000 });
  const stop = async () => {
    controller.abort();
    await running;
  };
  return { v1: createService(V1, connection), v1alpha1: createService(V1Alpha1, connection), metrics, stop };
}

const device = (id: string, node?: number) => ({
  resourceName: RESOURCE,
  deviceIds: [id],
  topology: node === undefined ? undefined : { nodes: [{ ID: BigInt(node) }] },
});
const container = (name: string, ...devices: object[]) => ({
  name,
  devices,
  cpuIds: [],
  memory: [],
  dynamicResources: [],
});
const memory = (memoryType: string, gibibytes: number, ...nodes: number[]) => ({
  memoryType,
  size: BigInt(gibibytes * GIB),
  topology: { nodes: nodes.map((node) => ({ ID: BigInt(node) })) },
});
const DYNAMIC_RESOURCE = {
  claimName: "gpu",
  claimNamespace: "default",
  claimResources: [
    {
      cdiDevices: [{ name: "example.com/gpu=0" }],
      driverName: "example.com",
      poolName: "pool",
      deviceName: "gpu-0",
      shareId: "share-1",
    },
  ],
};
const WEB = {
  name: "web",
  namespace: "default",
  containers: [
    container("sidecar", device("b")),
    { ...container("main", device("a", 1)), cpuIds: [2n, 3n], memory: [memory("memory", 1, 0, 1)] },
    { ...container("plain"), dynamicResources: [DYNAMIC_RESOURCE] },
  ],
  cpuIds: [],
  memory: [],
};

describe("the podresources API", () => {
  it("lists the devices, claims, CPUs and memory of pods", async () => {
    const { v1, stop } = await startServer();
    expect(await v1.list({})).toEqual({ podResources: [WEB] });
    await stop();
  });

  it("tells of one pod, or that there is no such pod", async () => {
    const { v1, metrics, stop } = await startServer();
    expect(await v1.get({ podNamespace: "default", podName: "web" })).toEqual({ podResources: WEB });
    await expect(v1.get({ podNamespace: "other", podName: "web" })).rejects.toMatchObject({
      detail: "pod web in namespace other not found",
    });
    const page = await metrics.render();
    expect(page).toContain('kubelet_pod_resources_endpoint_requests_total{server_api_version="v1"} 2');
    expect(page).toContain('kubelet_pod_resources_endpoint_errors_get{server_api_version="v1"} 1');
    await stop();
  });

  it("lists the healthy devices, the CPUs and the memory that are not reserved, whoever has them", async () => {
    const { v1, stop } = await startServer();
    const { devices, cpuIds, memory: pages } = await v1.getAllocatableResources({});
    expect(pages).toEqual([memory("hugepages-2Mi", 2, 1)]);
    expect(cpuIds).toEqual([1n, 2n, 3n]);
    expect(devices).toEqual([device("a", 0), device("a", 1), device("b")]);
    await stop();
  });

  it("answers its first version without sidecars and NUMA nodes", async () => {
    const { v1alpha1, stop } = await startServer();
    const main = { name: "main", devices: [{ resourceName: RESOURCE, deviceIds: ["a"] }] };
    const containers = [main, { name: "plain", devices: [] }];
    expect(await v1alpha1.list({})).toEqual({ podResources: [{ name: "web", namespace: "default", containers }] });
    await stop();
  });

  it("refuses calls that come too fast", async () => {
    const { v1, stop } = await startServer();
    for (let calls = 0; calls < 10; calls++) await v1.list({});
    await expect(v1.list({})).rejects.toMatchObject({ code: "resource-exhausted", detail: "rejected by rate limit" });
    await stop();
  });
});
