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
