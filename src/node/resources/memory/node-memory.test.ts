import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { numaMaskOf } from "../topology/numa-mask.ts";
import { createNodeMemory } from "./node-memory.ts";

const FILE = "/var/lib/kubelet/memory_manager_state";
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const RESERVATIONS = { systemReserved: {}, reservedSystemCpus: "", evictionHard: { "memory.available": "100Mi" } };

/** A machine of upstream's tests: each NUMA node has 1536 MiB for pods beside one huge page of 1 GiB. */
function createMachine(nodes: number) {
  const host = createFakeHost();
  const indices = Array.from({ length: nodes }, (_, index) => index);
  for (const node of indices) {
    const put = (path: string, text: string) =>
      host.files.put(`/sys/devices/system/node/node${node}/${path}`, `${text}\n`);
    put("distance", indices.map((other) => (other === node ? 10 : 21)).join(" "));
    put("meminfo", `Node ${node} MemTotal: ${3 * 1024 * 1024} kB`);
    put("hugepages/hugepages-1048576kB/nr_hugepages", "1");
  }
  return host;
}

async function createNode({ nodes = 2, host = createMachine(nodes), reserve = "512Mi", isStatic = true } = {}) {
  const metrics = createMetrics();
  const reservedMemory = Array.from({ length: nodes }, (_, numaNode) => ({ numaNode, limits: { memory: reserve } }));
  const kubeReserved = { memory: `${512 * nodes - 100}Mi` };
  const options = {
    isStatic,
    reservedMemory,
    reservations: { ...RESERVATIONS, kubeReserved },
    directory: "/var/lib/kubelet",
  };
  await host.files.makeDirectory(options.directory, 0o750);
  const memory = await createNodeMemory({ files: host.files, machine: host.machine, metrics }, options);
  if (memory === undefined) throw new Error("the policy is None");
  const give = async (pod: Pod, name = "main", place: Partial<Parameters<typeof memory.containers.allocate>[1]> = {}) =>
    await memory.containers.allocate(userOf(pod, name), {
      predecessors: [],
      numaNodes: undefined,
      isPreferred: false,
      ...place,
    });
  return { memory, give, host, metrics };
}

function userOf(pod: Pod, name: string) {
  const all = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const container = all.find((each) => each.name === name);
  if (container === undefined) throw new Error(`no container ${name}`);
  return { podUid: pod.metadata?.uid ?? "", pod, container };
}

/** A Guaranteed pod: the memory of each container, and its huge pages of 1 GiB after a plus. */
function podOf(uid: string, memoryOf: Readonly<Record<string, string>>): Pod {
  const containers = Object.entries(memoryOf).map(([name, amounts]): Container => {
    const [memory = "", hugepages] = amounts.split("+");
    const limits = { cpu: "1", memory, ...(hugepages !== undefined && { "hugepages-1Gi": hugepages }) };
    return { name, resources: { requests: limits, limits }, ...(name === "sidecar" && { restartPolicy: "Always" }) };
  });
  const isInit = ({ name }: Container) => name.startsWith("init") || name === "sidecar";
  return {
    metadata: { uid, name: uid, namespace: "default" },
    spec: { initContainers: containers.filter(isInit), containers: containers.filter((each) => !isInit(each)) },
  };
}

const hint = (nodes: number[], isPreferred: boolean) => ({ nodes: numaMaskOf(nodes), isPreferred });

describe("the memory of a node", () => {
  it("is shared without the policy, whatever the configuration says", async () => {
    const { files, machine } = createFakeHost();
    const reservations = { ...RESERVATIONS, kubeReserved: {} };
    const options = { isStatic: false, reservedMemory: [], reservations, directory: "/var/lib/kubelet" };
    expect(await createNodeMemory({ files, machine, metrics: createMetrics() }, options)).toBeUndefined();
  });

  it("goes to the containers of Guaranteed pods, and not to others", async () => {
    const { memory, give, host } = await createNode();
    expect(memory.allocatable).toEqual([
      { numaNodes: [0], resource: "hugepages-1Gi", size: GIB },
      { numaNodes: [0], resource: "memory", size: 1536 * MIB },
      { numaNodes: [1], resource: "hugepages-1Gi", size: GIB },
      { numaNodes: [1], resource: "memory", size: 1536 * MIB },
    ]);
    expect(await give(podOf("a", { main: "1Gi+1Gi" }))).toBeUndefined();
    expect(memory.blocksOf("a", "main")).toEqual([
      { numaNodes: [0], resource: "memory", size: GIB },
      { numaNodes: [0], resource: "hugepages-1Gi", size: GIB },
    ]);
    expect(memory.nodeListOf("a", "main")).toBe("0");
    const burstable = podOf("b", { main: "1Gi" });
    delete burstable.spec?.containers[0]?.resources?.limits?.["memory"];
    expect(memory.containers.concerns(burstable)).toBe(false);
    expect(await give(burstable)).toBeUndefined();
    expect(memory.nodeListOf("b", "main")).toBeUndefined();
    const file = JSON.parse((await host.files.read(FILE, 10_000)).toString());
    expect(file.machineState["0"]).toMatchObject({
      numberOfAssignments: 2,
      cells: [0],
      memoryMap: { memory: { total: 3 * GIB, systemReserved: 512 * MIB, free: 512 * MIB, reserved: GIB } },
    });
  });

  it("comes from several NUMA nodes where one has not enough, which then serve such containers only", async () => {
    const { memory, give } = await createNode({ nodes: 3 });
    await give(podOf("a", { main: "2Gi" }));
    expect(memory.nodeListOf("a", "main")).toBe("0,1");
    await give(podOf("b", { main: "256Mi" }));
    expect(memory.nodeListOf("b", "main")).toBe("2");
    await give(podOf("c", { main: "1Gi" }));
    expect(memory.nodeListOf("c", "main")).toBe("2");
  });

  it("comes from the NUMA nodes that were chosen, and from more where these have not enough", async () => {
    const { memory, give } = await createNode();
    await give(podOf("a", { main: "512Mi" }), "main", { numaNodes: new Set([1]), isPreferred: true });
    expect(memory.nodeListOf("a", "main")).toBe("1");
    const { memory: other, give: giveOther } = await createNode();
    await giveOther(podOf("b", { main: "2Gi" }), "main", { numaNodes: new Set([1]), isPreferred: true });
    expect(other.nodeListOf("b", "main")).toBe("0,1");
  });

  it("passes from init containers to those after them, and not from sidecars", async () => {
    const { memory, give } = await createNode({ nodes: 1 });
    const pod = podOf("a", { init: "1Gi", sidecar: "512Mi", main: "768Mi" });
    expect(await give(pod, "init")).toBeUndefined();
    expect(await give(pod, "sidecar", { predecessors: ["init"] })).toBeUndefined();
    expect(await give(pod, "main", { predecessors: ["init"] })).toBeUndefined();
    expect(memory.blocksOf("a", "init")).toMatchObject([{ size: 0 }]);
    expect(await give(podOf("b", { main: "257Mi" }))).toContain("no NUMA nodes with enough memory is available");
    expect(await give(podOf("c", { main: "256Mi" }))).toBeUndefined();
  });

  it("is given back", async () => {
    const { memory, give } = await createNode({ nodes: 1 });
    await give(podOf("a", { main: "768Mi" }));
    await give(podOf("b", { main: "768Mi" }));
    memory.releaseOthers(new Set(["b"]));
    expect(await give(podOf("c", { main: "768Mi" }))).toBeUndefined();
    memory.release("b");
    expect(await give(podOf("d", { main: "768Mi" }))).toBeUndefined();
  });

  it("is the same after a restart", async () => {
    const { give, host } = await createNode();
    await give(podOf("a", { main: "2Gi" }));
    const { memory } = await createNode({ host });
    expect(memory.nodeListOf("a", "main")).toBe("0,1");
  });

  it("is not given away by an account of another machine", async () => {
    const { give, host } = await createNode();
    await give(podOf("a", { main: "1Gi" }));
    host.files.put("/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 4194304 kB\n");
    await expect(createNode({ host })).rejects.toThrow(
      `the expected machine state is different from the real one, please drain this node and delete the memory manager checkpoint file "${FILE}"`,
    );
  });

  it.each([
    ["1Gi", 'the total amount "2Gi" of type "memory" is not equal to the value "1Gi" determined by Node Allocatable'],
  ])(
    "cannot be divided where %s of each node is reserved, and half of that of the machine",
    async (reserve, problem) => {
      await expect(createNode({ reserve })).rejects.toThrow(problem);
    },
  );

  it("is read of the whole machine where the kernel knows no NUMA nodes", async () => {
    const host = createFakeHost();
    const { memory } = await createNode({ nodes: 1, host });
    const size = Number(await host.machine.memoryCapacityBytes()) - 512 * MIB;
    expect(memory.allocatable).toContainEqual({ numaNodes: [0], resource: "memory", size });
  });
});

describe("memory that cannot be given", () => {
  it.each([
    ["anywhere", {}, "failed to get the default NUMA affinity, no NUMA nodes with enough memory is available"],
    [
      "on the chosen nodes",
      { numaNodes: new Set([0]) },
      "failed to find NUMA nodes to extend the current topology hint",
    ],
  ])("%s is refused in upstream's words", async (_where, place, problem) => {
    const { give, metrics } = await createNode({ nodes: 1 });
    expect(await give(podOf("a", { main: "1537Mi" }), "main", place)).toBe(`[memorymanager] ${problem}`);
    const page = await metrics.render();
    expect(page).toContain("kubelet_memory_manager_pinning_requests_total 1");
    expect(page).toContain("kubelet_memory_manager_pinning_errors_total 1");
  });

  it.each([
    ["anywhere", undefined, "failed to find the default preferred hint"],
    ["on the chosen nodes", new Set([1]), "failed to find the extended preferred hint"],
  ])("on as few nodes as it was promised %s is refused", async (_where, numaNodes, problem) => {
    const { give } = await createNode({ nodes: 3 });
    // One node could have 1 GiB, and none has it left: a group of two has.
    await give(podOf("a", { main: "1Gi" }), "main", { numaNodes: new Set([0]) });
    await give(podOf("b", { main: "2Gi" }), "main", { numaNodes: new Set([1, 2]) });
    const refusal = await give(podOf("c", { main: "1Gi" }), "main", { numaNodes, isPreferred: true });
    expect(refusal).toBe(`[memorymanager] ${problem}`);
  });

  it("is refused on a group of nodes of which one serves alone", async () => {
    const { give } = await createNode();
    await give(podOf("a", { main: "512Mi" }), "main", { numaNodes: new Set([0]) });
    const refusal = await give(podOf("b", { main: "512Mi" }), "main", { numaNodes: new Set([0, 1]) });
    expect(refusal).toBe("[memorymanager] preferred hint violates NUMA node allocation");
  });
});

describe("the hints of memory", () => {
  it("name the nodes that are in no group, as upstream's", async () => {
    const { memory, give } = await createNode({ nodes: 4 });
    await give(podOf("a", { main: "2Gi+2Gi" }));
    const hints = [hint([2], true), hint([3], true), hint([2, 3], false)];
    const pod = podOf("b", { main: "1Gi+1Gi" });
    expect(memory.containers.hintsOfContainer(userOf(pod, "main"), [])).toEqual([hints, hints]);
    expect(memory.containers.hintsOfPod(pod)).toEqual([hints, hints]);
  });

  it("are those of what the container has already, where it asks for the same", async () => {
    const { memory, give } = await createNode();
    await give(podOf("a", { main: "1Gi+1Gi" }));
    const hintsOf = (amounts: string) => memory.containers.hintsOfPod(podOf("a", { main: amounts }));
    expect(hintsOf("1Gi+1Gi")).toEqual([[hint([0], true)], [hint([0], true)]]);
    expect(hintsOf("1Gi")).toEqual([]);
    expect(hintsOf("512Mi+1Gi")).toEqual([]);
  });

  it("of a pod are for the most that it needs at a time", async () => {
    const { memory } = await createNode();
    const both = [hint([0, 1], true)];
    expect(memory.containers.hintsOfPod(podOf("a", { init: "2Gi", main: "1Gi" }))).toEqual([both]);
    expect(memory.containers.hintsOfPod(podOf("a", { sidecar: "1Gi", main: "1Gi" }))).toEqual([both]);
    expect(memory.containers.hintsOfPod(podOf("a", { main: "8Gi" }))).toEqual([]);
  });
});

it("memory that is given away has a checkpoint from the start, and says what there is to give", async () => {
  const host = createMachine(1);
  const start = async () => (await createNode({ nodes: 1, host })).memory;
  await start();
  const state = JSON.parse((await host.files.read(FILE, 10_000)).toString());
  expect(state).toMatchObject({ policyName: "Static", machineState: { 0: { numberOfAssignments: 0 } } });
  expect(state.machineState[0].memoryMap.memory.allocatable).toBe(1536 * MIB);
  expect(await start()).toBeDefined();
});

it("a disk that takes no checkpoint of memory does not keep the node agent from starting", async () => {
  const host = createMachine(1);
  host.files.intercept(({ operation }) => {
    if (operation === "writeAtomically") throw new Error("no space left on device");
  });
  expect((await createNode({ nodes: 1, host })).memory.allocatable).not.toEqual([]);
});

it("memory that all share has a checkpoint that says so, as a Go kubelet leaves it", async () => {
  const host = createMachine(1);
  const options = { isStatic: false, reservedMemory: [], reservations: { ...RESERVATIONS, kubeReserved: {} } };
  const begin = async () => {
    const deps = { files: host.files, machine: host.machine, metrics: createMetrics() };
    return await createNodeMemory(deps, { ...options, directory: "/var/lib/kubelet" });
  };
  expect(await begin()).toBeUndefined();
  const text = (await host.files.read(FILE, 1_000)).toString();
  expect(JSON.parse(text)).toEqual({ policyName: "None", machineState: {}, checksum: 4236770233 });
  expect(await begin()).toBeUndefined();
  host.files.put(FILE, text.replace("None", "Static").replace("4236770233", "0"));
  await expect(begin()).rejects.toThrow(
    'could not restore state from checkpoint: [memorymanager] configured policy "None" differs from state checkpoint policy "Static", please drain this node and delete the memory manager checkpoint file',
  );
});
