import { formatCpuList } from "../../../../base/cpu-list.ts";
import type { FakeFiles } from "../../../../host/fake/fake-files.ts";
import type { CpuPlace, CpuTopology } from "../cpu-topology.ts";
import type { CpuPreferences } from "../take-cpus.ts";

/** The machines of upstream's tests (cpumanager/policy_test.go). CPUs of a socket share a cache where nothing is said. */
function machine(count: number, placeOf: (cpu: number) => Omit<CpuPlace, "cache"> & Partial<CpuPlace>): CpuTopology {
  const places = Array.from({ length: count }, (_, cpu) => [cpu, placeOf(cpu)] as const);
  return new Map(places.map(([cpu, place]) => [cpu, { cache: place.socket, ...place }]));
}

export const SINGLE_SOCKET = machine(8, (cpu) => ({ core: cpu % 4, socket: 0, numaNode: 0 }));

export const DUAL_SOCKET = machine(12, (cpu) => ({ core: cpu % 6, socket: cpu % 2, numaNode: cpu % 2 }));

/** Two sockets with two NUMA nodes each, and 80 CPUs. */
export const FOUR_NODES = machine(80, (cpu) => {
  const core = cpu % 40;
  return { core, socket: Math.floor(core / 20), numaNode: Math.floor(core / 10) };
});

/** Two sockets with four NUMA nodes each, and 256 CPUs. */
export const EIGHT_NODES = machine(256, (cpu) => {
  const core = cpu % 128;
  return { core, socket: Math.floor(core / 64), numaNode: Math.floor(core / 16) };
});

/** Each four CPUs of sixteen share a cache. */
export const FOUR_CACHES = machine(16, (cpu) => ({ core: cpu, socket: 0, numaNode: 0, cache: Math.floor(cpu / 4) }));

/** Two NUMA nodes with two caches each. */
export const CACHES_OF_NODES = machine(16, (cpu) => {
  return { core: cpu, socket: 0, numaNode: Math.floor(cpu / 8), cache: Math.floor(cpu / 4) };
});

/** Two sockets with two caches each. */
export const CACHES_OF_SOCKETS = machine(16, (cpu) => {
  const socket = Math.floor(cpu / 8);
  return { core: cpu, socket, numaNode: socket, cache: Math.floor(cpu / 4) };
});

/** Eight cores of two CPUs, of which each four share a cache. */
export const CACHES_OF_CORES = machine(16, (cpu) => {
  return { core: cpu % 8, socket: 0, numaNode: 0, cache: Math.floor((cpu % 8) / 4) };
});

/** The static policy without options. */
export const NO_PREFERENCES: CpuPreferences = {
  alignsToSockets: false,
  dividesAcrossNumaNodes: false,
  prefersOneCache: false,
  spreadsAcrossCores: false,
  wholeCoresOnly: false,
};

/** Shows a machine as the kernel does. */
export function showMachine(files: Pick<FakeFiles, "put">, topology: CpuTopology): void {
  const put = (path: string, text: string) => files.put(`/sys/devices/system/${path}`, `${text}\n`);
  const listOf = (level: keyof CpuPlace, group: number) =>
    formatCpuList(new Set([...topology].flatMap(([cpu, place]) => (place[level] === group ? [cpu] : []))));
  put("cpu/online", formatCpuList(new Set(topology.keys())));
  for (const [cpu, { core, socket, cache }] of topology) {
    put(`cpu/cpu${cpu}/topology/thread_siblings_list`, listOf("core", core));
    put(`cpu/cpu${cpu}/topology/physical_package_id`, String(socket));
    put(`cpu/cpu${cpu}/cache/index0/level`, "1");
    put(`cpu/cpu${cpu}/cache/index3/level`, "3");
    put(`cpu/cpu${cpu}/cache/index3/shared_cpu_list`, listOf("cache", cache));
  }
  const nodes = [...new Set([...topology.values()].map(({ numaNode }) => numaNode))];
  for (const node of nodes) {
    put(`node/node${node}/cpulist`, listOf("numaNode", node));
    put(`node/node${node}/distance`, nodes.map((other) => (node === other ? "10" : "21")).join(" "));
  }
}
