import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { CriError } from "../../../cri/port.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { declareTopologyMetrics } from "../topology/metrics.ts";
import { numaMaskOf } from "../topology/numa-mask.ts";
import {
  CACHES_OF_CORES,
  DUAL_SOCKET,
  EIGHT_NODES,
  FOUR_NODES,
  NO_PREFERENCES,
  showMachine,
} from "./__fixtures__/machines.ts";
import { encodeCpuCheckpoint } from "./cpu-checkpoint.ts";
import { createCpuUpkeep } from "./cpu-upkeep.ts";
import { createNodeCpus } from "./node-cpus.ts";

const FILE = "/var/lib/kubelet/cpu_manager_state";
const SETTINGS = {
  policy: "static",
  reconcileMs: 10_000,
  liftsQuota: true,
  ...NO_PREFERENCES,
  isReservationStrict: false,
} as const;
const RESERVED_CORE = { kubeReserved: { cpu: "1500m" }, systemReserved: {}, reservedSystemCpus: "", evictionHard: {} };

/** Upstream's machine with two sockets, as the kernel shows it. */
function createMachine(topology = DUAL_SOCKET) {
  const host = createFakeHost();
  showMachine(host.files, topology);
  return host;
}

async function createNode({ settings = {}, reservations = {}, host = createMachine() } = {}) {
  const metrics = createMetrics();
  const options = {
    settings: { ...SETTINGS, ...settings },
    reservations: { ...RESERVED_CORE, ...reservations },
    directory: "/var/lib/kubelet",
  };
  await host.files.makeDirectory(options.directory, 0o750);
  const alignment = declareTopologyMetrics(metrics, host.clock);
  const cpus = await createNodeCpus({ files: host.files, metrics, alignment }, options);
  if (cpus === undefined) throw new Error("the policy is static");
  const give = async (pod: Pod, name: string, place: Partial<Parameters<typeof cpus.containers.allocate>[1]> = {}) => {
    const container = containersOf(pod).find((each) => each.name === name);
    if (container === undefined) throw new Error(`no container ${name}`);
    const user = { podUid: pod.metadata?.uid ?? "", pod, container };
    return await cpus.containers.allocate(user, { predecessors: [], numaNodes: undefined, ...place });
  };
  return { cpus, give, host, metrics };
}

const containersOf = ({ spec }: Pod) => [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];

function podOf(uid: string, cpusOf: Readonly<Record<string, string>>): Pod {
  const containers = Object.entries(cpusOf).map(([name, cpu]): Container => {
    const amounts = { cpu, memory: "1Gi" };
    return { name, resources: { requests: amounts, limits: amounts } };
  });
  const init = containers.filter(({ name }) => name.startsWith("init"));
  const main = containers.filter(({ name }) => !name.startsWith("init"));
  return { metadata: { uid, name: uid, namespace: "default" }, spec: { initContainers: init, containers: main } };
}

describe("the CPUs of a node", () => {
  it("are shared without the policy, whatever the machine is like", async () => {
    const { files, clock } = createFakeHost();
    const settings = { ...SETTINGS, policy: "none" } as const;
    const options = { settings, reservations: RESERVED_CORE, directory: "/var/lib/kubelet" };
    const metrics = createMetrics();
    const alignment = declareTopologyMetrics(metrics, clock);
    expect(await createNodeCpus({ files, metrics, alignment }, options)).toBeUndefined();
  });

  it("are shared with a checkpoint that says so, as a Go kubelet leaves it, and with no other", async () => {
    const { files, clock } = createFakeHost();
    const settings = { ...SETTINGS, policy: "none" } as const;
    const options = { settings, reservations: RESERVED_CORE, directory: "/var/lib/kubelet" };
    const begin = async () => {
      const metrics = createMetrics();
      return await createNodeCpus({ files, metrics, alignment: declareTopologyMetrics(metrics, clock) }, options);
    };
    await begin();
    const text = (await files.read("/var/lib/kubelet/cpu_manager_state", 1_000)).toString();
    expect(JSON.parse(text)).toEqual({ policyName: "none", defaultCpuSet: "", checksum: 1353318690 });
    await begin();
    const other = encodeCpuCheckpoint({ policy: "static", shared: new Set([0]), exclusive: new Map() });
    files.put("/var/lib/kubelet/cpu_manager_state", other);
    await expect(begin()).rejects.toThrow(
      'could not restore state from checkpoint: configured policy "none" differs from state checkpoint policy "static", please drain this node and delete the CPU manager checkpoint file "/var/lib/kubelet/cpu_manager_state"',
    );
    expect((await files.read("/var/lib/kubelet/cpu_manager_state", 1_000)).toString()).toBe(other);
  });

  it("are shared although the disk takes no checkpoint", async () => {
    const { files, clock } = createFakeHost();
    const settings = { ...SETTINGS, policy: "none" } as const;
    const metrics = createMetrics();
    const full = { ...files, writeAtomically: async () => await Promise.reject(new Error("ENOSPC")) };
    const deps = { files: full, metrics, alignment: declareTopologyMetrics(metrics, clock) };
    const options = { settings, reservations: RESERVED_CORE, directory: "/var/lib/kubelet" };
    expect(await createNodeCpus(deps, options)).toBeUndefined();
  });

  it("go to containers that ask for whole ones, and not to others", async () => {
    const { cpus, give } = await createNode();
    const pod = podOf("a", { own: "2", part: "500m" });
    expect(await give(pod, "own")).toBeUndefined();
    expect(await give(pod, "part")).toBeUndefined();
    // The first core is reserved.
    expect(cpus.allocatable).toEqual([1, 2, 3, 4, 5, 7, 8, 9, 10, 11]);
    expect(cpus.exclusiveOf("a", "own")).toEqual([2, 8]);
    expect(cpus.cpuListOf("a", "own")).toBe("2,8");
    expect(cpus.cpuListOf("a", "part")).toBe("0-1,3-7,9-11");
    expect(cpus.sizingOf({ cpuCfsQuota: true }, "a", "own").cpuCfsQuota).toBe(false);
    expect(cpus.sizingOf({ cpuCfsQuota: true }, "a", "part").cpuCfsQuota).toBe(true);
    expect(cpus.sizingOf({ cpuCfsQuota: true }, "a").cpuCfsQuota).toBe(false);
  });

  it("stay shared for pods that are not Guaranteed", async () => {
    const { cpus } = await createNode();
    const burstable = {
      metadata: { uid: "b" },
      spec: { containers: [{ name: "m", resources: { requests: { cpu: "2" } } }] },
    };
    expect(cpus.containers.concerns(burstable)).toBe(false);
    expect(cpus.containers.concerns(podOf("a", { main: "2" }))).toBe(true);
  });

  it("come from the NUMA nodes that were chosen, and from others after those", async () => {
    const { cpus, give } = await createNode();
    await give(podOf("a", { main: "8" }), "main", { numaNodes: new Set([1]) });
    expect(cpus.exclusiveOf("a", "main")).toEqual([1, 2, 3, 5, 7, 8, 9, 11]);
  });

  it("pass from init containers to those after them", async () => {
    const { cpus, give } = await createNode();
    const pod = podOf("a", { init: "4", main: "2", other: "2" });
    await give(pod, "init");
    await give(pod, "main", { predecessors: ["init"] });
    await give(pod, "other", { predecessors: ["init"] });
    expect(cpus.exclusiveOf("a", "init")).toEqual([2, 4, 8, 10]);
    expect([...cpus.exclusiveOf("a", "main"), ...cpus.exclusiveOf("a", "other")].sort((a, b) => a - b)).toEqual([
      2, 4, 8, 10,
    ]);
  });

  it("are given back", async () => {
    const { cpus, give } = await createNode();
    await give(podOf("a", { main: "2" }), "main");
    await give(podOf("b", { main: "2" }), "main");
    cpus.releaseOthers(new Set(["b"]));
    expect(cpus.exclusiveOf("a", "main")).toEqual([]);
    cpus.release("b");
    expect(cpus.cpuListOf("b", "main")).toBe("0-11");
  });

  it("are refused in upstream's words", async () => {
    const { give, metrics } = await createNode();
    const refusal = await give(podOf("a", { main: "11" }), "main");
    expect(refusal).toBe("not enough cpus available to satisfy request: requested=11, available=10");
    const page = await metrics.render();
    expect(page).toContain("kubelet_cpu_manager_pinning_errors_total 1");
    expect(page).toContain("kubelet_cpu_manager_shared_pool_size_millicores 10000");
  });

  it.each([
    ["3", "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2"],
    [
      "10",
      "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 8, requested CPUs = 10, CPUs per core = 2",
    ],
  ])("are refused where cores would be shared: %s", async (cpu, message) => {
    // One CPU of each of two cores is reserved.
    const { give } = await createNode({
      settings: { wholeCoresOnly: true },
      reservations: { reservedSystemCpus: "0,1" },
    });
    expect(await give(podOf("a", { main: cpu }), "main")).toEqual({ reason: "SMTAlignmentError", message });
  });

  it("leave the reserved ones to the system where that is strict", async () => {
    const { cpus } = await createNode({ settings: { isReservationStrict: true } });
    expect(cpus.cpuListOf("any", "container")).toBe("1-5,7-11");
  });

  it("are the same after a restart", async () => {
    const { give, host } = await createNode();
    await give(podOf("a", { main: "2" }), "main");
    const { cpus, give: giveAgain } = await createNode({ host });
    expect(cpus.exclusiveOf("a", "main")).toEqual([2, 8]);
    await giveAgain(podOf("a", { main: "2" }), "main");
    expect(cpus.exclusiveOf("a", "main")).toEqual([2, 8]);
  });

  it("are not given away by an account of another machine", async () => {
    const { give, host } = await createNode();
    await give(podOf("a", { main: "2" }), "main");
    host.files.put("/sys/devices/system/cpu/online", "0-10\n");
    const mend = `please drain this node and delete the CPU manager checkpoint file "${FILE}" before starting again`;
    await expect(createNode({ host })).rejects.toThrow(mend);
  });

  it.each([
    [{ kubeReserved: {} }, "requires systemreserved.cpu + kubereserved.cpu to be greater than zero"],
    [{ kubeReserved: { cpu: "13" } }, "unable to reserve the required amount of CPUs: 13 of 12"],
    [{ reservedSystemCpus: "11-13" }, "reservedSystemCPUs: this machine has no CPUs 12-13 (0-11)"],
  ])("cannot be divided with %j", async (reservations, problem) => {
    await expect(createNode({ reservations })).rejects.toThrow(problem);
  });

  it("hint at the NUMA nodes that have enough of them", async () => {
    const { cpus, give } = await createNode();
    await give(podOf("a", { main: "2" }), "main");
    const hint = (nodes: number[], isPreferred: boolean) => ({ nodes: numaMaskOf(nodes), isPreferred });
    const big = podOf("b", { main: "4" });
    expect(cpus.containers.hintsOfPod(big)).toEqual([[hint([1], true), hint([0, 1], false)]]);
    expect(cpus.containers.hintsOfPod(podOf("a", { main: "2" }))).toEqual([[hint([0], true), hint([0, 1], false)]]);
    expect(cpus.containers.hintsOfPod(podOf("c", { main: "100m" }))).toEqual([]);
  });
});

describe("the options of the static policy", () => {
  it("prefer CPUs of one cache of the kernel's list, and count what is aligned", async () => {
    const { cpus, give, metrics } = await createNode({
      settings: { prefersOneCache: true },
      reservations: { reservedSystemCpus: "0,8" },
      host: createMachine(CACHES_OF_CORES),
    });
    await give(podOf("a", { main: "8" }), "main");
    await give(podOf("b", { main: "7" }), "main");
    expect(cpus.exclusiveOf("a", "main")).toEqual([4, 5, 6, 7, 12, 13, 14, 15]);
    const page = await metrics.render();
    const labels = '{scope="container",boundary="uncore_cache"}';
    expect(page).toContain(`kubelet_container_aligned_compute_resources_count${labels} 1`);
  });

  it("count containers that have their cores for themselves, and those that cannot", async () => {
    const { give, metrics } = await createNode({ settings: { wholeCoresOnly: true } });
    await give(podOf("a", { main: "2" }), "main");
    await give(podOf("b", { main: "3" }), "main");
    const page = await metrics.render();
    const labels = '{scope="container",boundary="physical_cpu"}';
    expect(page).toContain(`kubelet_container_aligned_compute_resources_count${labels} 1`);
    expect(page).toContain(`kubelet_container_aligned_compute_resources_failure_count${labels} 1`);
  });

  it("align to sockets: nodes of one are preferred, and their CPUs come first", async () => {
    const { cpus, give } = await createNode({ settings: { alignsToSockets: true }, host: createMachine(FOUR_NODES) });
    const big = podOf("a", { main: "24" });
    const hints = cpus.containers.hintsOfPod(podOf("b", { main: "10" }))[0] ?? [];
    const preferred = hints.filter(({ isPreferred }) => isPreferred).map(({ nodes }) => nodes);
    expect(preferred).toEqual([[0], [1], [0, 1], [2], [3], [2, 3]].map(numaMaskOf));
    await give(big, "main", { numaNodes: new Set([2]) });
    const sockets = new Set(cpus.exclusiveOf("a", "main").map((cpu) => FOUR_NODES.get(cpu)?.socket));
    expect(sockets).toEqual(new Set([1]));
  });

  it.each([
    [
      "align-by-socket",
      { alignsToSockets: true },
      new Map([...FOUR_NODES].map(([cpu, at]) => [cpu, { ...at, numaNode: 0 }])),
    ],
    [
      "distribute-cpus-across-numa",
      { dividesAcrossNumaNodes: true },
      new Map([...EIGHT_NODES].map(([cpu, at]) => [cpu, { ...at, numaNode: at.numaNode * 2 + (at.core % 2) }])),
    ],
  ])("refuse a machine for which they are not made: %s", async (option, settings, topology) => {
    const started = createNode({ settings, host: createMachine(topology) });
    await expect(started).rejects.toThrow(`cpuManagerPolicyOptions ${option}: unsupported on machines with more`);
  });
});

describe("the upkeep of CPUs", () => {
  it("tells each container once, and again as its CPUs change; one that fails is told again", async () => {
    const { cpus, give, host } = await createNode();
    const calls: string[] = [];
    let isBroken = true;
    const part = createCpuUpkeep(
      {
        clock: host.clock,
        log: silentLog,
        cpus,
        runtime: {
          async updateContainerResources({ containerId, linux }) {
            calls.push(`${containerId} ${linux?.cpusetCpus}`);
            if (isBroken && containerId === "2") {
              throw new CriError("unknown", { rpc: "UpdateContainerResources", endpoint: "unix:///x", detail: "busy" });
            }
            return {};
          },
        },
        releaseStale: () => undefined,
        podUids: () => ["a", "b"],
        runningOf: (uid) => [{ id: uid === "a" ? "1" : "2", name: "main" }],
      },
      { periodMs: 10_000 },
    );
    const controller = new AbortController();
    const running = part.run(controller.signal).catch(() => undefined);
    await host.clock.settle();
    expect(calls.splice(0)).toEqual(["1 0-11", "2 0-11"]);
    isBroken = false;
    await host.clock.advance(10_000);
    expect(calls.splice(0)).toEqual(["2 0-11"]);
    await give(podOf("a", { main: "2" }), "main");
    await host.clock.advance(10_000);
    expect(calls.splice(0)).toEqual(["1 2,8", "2 0-1,3-7,9-11"]);
    await host.clock.advance(10_000);
    expect(calls).toEqual([]);
    controller.abort();
    await running;
    const stored = (await host.files.read(FILE, 10_000)).toString();
    expect(stored).toContain('"entries":{"a":{"main":"2,8"}}');
  });
});
