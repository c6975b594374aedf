import { addQuantities, compareQuantities, quantityValue } from "../../../api/quantity.ts";
import type { ResourceList } from "../../../api/resources.ts";
import { computeReserved, type NodeReservations } from "../capacity/node-reservations.ts";
import type { NumaMemory } from "./read-numa-memory.ts";

/** One kind of memory of a NUMA node, in bytes. */
export interface MemoryPool {
  readonly total: number;
  /** What no container is given. */
  readonly systemReserved: number;
  readonly allocatable: number;
}

/** By NUMA node and resource: `memory`, `hugepages-2Mi`. */
export type MemoryPools = ReadonlyMap<number, ReadonlyMap<string, MemoryPool>>;

/** What the configuration sets aside of one NUMA node. */
export interface ReservedMemory {
  readonly numaNode: number;
  readonly limits?: Readonly<ResourceList> | undefined;
}

interface MemoryReservations {
  readonly reservedMemory: readonly ReservedMemory[];
  readonly reservations: NodeReservations;
}

const MEMORY = "memory";

/**
 * Divides the memory of each NUMA node. Throws, in upstream's words, where what is set aside of the nodes is nothing, or
 * is not what is set aside of the machine.
 */
export function divideMemory(
  machine: ReadonlyMap<number, NumaMemory>,
  { reservedMemory, reservations }: MemoryReservations,
): MemoryPools {
  const total = [...machine.values()].reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  const ofMachine = computeReserved(MEMORY, { memory: String(total) }, reservations);
  checkSums(machine, reservedMemory, ofMachine);
  const reservedOf = (node: number, resource: string) =>
    Number(
      reservedMemory
        .filter(({ numaNode }) => numaNode === node)
        .reduce((sum, { limits }) => sum + quantityValue(limits?.[resource] ?? "0"), 0n),
    );
  return new Map([...machine].map(([node, memory]) => [node, divideNode(memory, (name) => reservedOf(node, name))]));
}

function checkSums(machine: ReadonlyMap<number, NumaMemory>, reserved: readonly ReservedMemory[], ofMachine: string) {
  const sums = new Map([[MEMORY, "0"]]);
  for (const { numaNode, limits = {} } of reserved) {
    if (!machine.has(numaNode)) {
      const problem = `the reserved memory configuration references a NUMA node ${numaNode} that does not exist on this machine`;
      throw new Error(`reservedMemory: ${problem}, set another numaNode`);
    }
    for (const [name, amount] of Object.entries(limits)) sums.set(name, addQuantities(sums.get(name) ?? "0", amount));
  }
  for (const [name, sum] of sums) {
    const wanted = name === MEMORY ? ofMachine : "0";
    if (compareQuantities(sum, wanted) === 0) continue;
    const amounts = `the total amount "${sum}" of type "${name}" is not equal to the value "${wanted}" determined by Node Allocatable feature`;
    throw new Error(`reservedMemory: ${amounts} (kubeReserved + systemReserved + evictionHard)`);
  }
  if (compareQuantities(ofMachine, "0") <= 0) {
    const mend = "set reservedMemory, and kubeReserved or systemReserved";
    throw new Error(`memoryManagerPolicy Static: you should specify the system reserved memory, ${mend}`);
  }
}

function divideNode(
  { memoryBytes, hugepages }: NumaMemory,
  reservedOf: (resource: string) => number,
): ReadonlyMap<string, MemoryPool> {
  const pools = new Map<string, MemoryPool>();
  let inHugepages = 0;
  for (const [name, total] of hugepages) {
    const systemReserved = reservedOf(name);
    pools.set(name, { total, systemReserved, allocatable: total - systemReserved });
    inHugepages += total;
  }
  const systemReserved = reservedOf(MEMORY);
  const allocatable = Math.max(0, memoryBytes - systemReserved - inHugepages);
  return pools.set(MEMORY, { total: memoryBytes, systemReserved, allocatable });
}
