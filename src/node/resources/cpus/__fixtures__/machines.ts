import type { CpuPlace, CpuTopology } from "../cpu-topology.ts";

/** The machines of upstream's tests (cpumanager/policy_test.go). */
function machine(count: number, placeOf: (cpu: number) => CpuPlace): CpuTopology {
  return new Map(Array.from({ length: count }, (_, cpu) => [cpu, placeOf(cpu)]));
}

export const SINGLE_SOCKET = machine(8, (cpu) => ({ core: cpu % 4, socket: 0, numaNode: 0 }));

export const DUAL_SOCKET = machine(12, (cpu) => ({ core: cpu % 6, socket: cpu % 2, numaNode: cpu % 2 }));

/** Two sockets with two NUMA nodes each, and 80 CPUs. */
export const FOUR_NODES = machine(80, (cpu) => {
  const core = cpu % 40;
  return { core, socket: Math.floor(core / 20), numaNode: Math.floor(core / 10) };
});
