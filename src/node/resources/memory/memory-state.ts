import type { MemoryPool, MemoryPools } from "./memory-pools.ts";

/** Memory that a container has, on one NUMA node or on a group of them. */
export interface MemoryBlock {
  /** In order. */
  readonly numaNodes: readonly number[];
  /** As in `memory` and `hugepages-2Mi`. */
  readonly resource: string;
  /** In bytes; 0 where a container after it has got all of it. */
  readonly size: number;
}

/** A pool, and how much of it containers have. */
export interface MemoryTable extends MemoryPool {
  readonly reserved: number;
  readonly free: number;
}

/** A NUMA node with what containers have of it. */
export interface NumaNodeState {
  /** How many blocks of containers are on the node. */
  readonly assignments: number;
  /** The node itself and those with which it forms a group, in order. */
  readonly cells: readonly number[];
  readonly memory: ReadonlyMap<string, MemoryTable>;
}

/** By NUMA node. */
export type MemoryState = ReadonlyMap<number, NumaNodeState>;

/**
 * Computes what is free where, of all blocks that containers have. A block that spans nodes takes the memory of the first
 * one first, as upstream's `updateMachineState` (cm/memorymanager/policy_static.go).
 */
export function computeMemoryState(pools: MemoryPools, blocks: Iterable<MemoryBlock>): MemoryState {
  const state = new Map([...pools].map(([node, ofNode]) => [node, emptyNode(node, ofNode)] as const));
  for (const { numaNodes, resource, size } of blocks) {
    let rest = size;
    for (const node of numaNodes) {
      const found = state.get(node);
      const table = found?.memory.get(resource);
      if (found === undefined || table === undefined) continue;
      const taken = Math.min(rest, table.free);
      const next = { ...table, reserved: table.reserved + taken, free: table.free - taken };
      rest -= taken;
      const memory = new Map(found.memory).set(resource, next);
      state.set(node, { assignments: found.assignments + 1, cells: [...numaNodes], memory });
    }
  }
  return state;
}

function emptyNode(node: number, pools: ReadonlyMap<string, MemoryPool>): NumaNodeState {
  const tables = [...pools].map(([name, pool]) => [name, { ...pool, reserved: 0, free: pool.allocatable }] as const);
  return { assignments: 0, cells: [node], memory: new Map(tables) };
}

/** True where both name the same NUMA nodes; both are in order. */
export function isSameGroup(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((node, index) => node === other[index]);
}
