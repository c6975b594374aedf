import type { Metrics } from "../../../base/metrics.ts";
import type { Files } from "../../../host/port.ts";
import type { NodeReservations } from "../capacity/node-reservations.ts";
import { type ContainerMemory, createContainerMemory } from "./container-memory.ts";
import { createMemoryAccount, type MemoryAccount } from "./memory-account.ts";
import { beginCheckpoint, createMemorySaver, keepSharedMemory, restoreMemory } from "./memory-checkpoint-file.ts";
import { divideMemory, type ReservedMemory } from "./memory-pools.ts";
import type { MemoryBlock } from "./memory-state.ts";
import { declareMemoryMetrics } from "./metrics.ts";
import { type NumaMemorySources, readNumaMemory } from "./read-numa-memory.ts";

/** The memory of this node, some of which containers have for themselves. */
export interface NodeMemory extends Pick<MemoryAccount, "release" | "releaseOthers"> {
  readonly containers: ContainerMemory;
  /** What containers may have for themselves, by NUMA node. */
  readonly allocatable: readonly MemoryBlock[];
  /** What the container has for itself. */
  blocksOf(podUid: string, container: string): readonly MemoryBlock[];
  /** The NUMA nodes from which the container's memory comes, as in `0,2`; undefined: any. */
  nodeListOf(podUid: string, container: string): string | undefined;
}

interface NodeMemoryDeps extends NumaMemorySources {
  readonly files: Pick<Files, "list" | "makeDirectory" | "read" | "stat" | "writeAtomically">;
  readonly metrics: Metrics;
}

interface NodeMemoryOptions {
  /** `memoryManagerPolicy`. */
  readonly isStatic: boolean;
  readonly reservedMemory: readonly ReservedMemory[];
  readonly reservations: NodeReservations;
  /** The account is in the file `memory_manager_state` of this directory, which exists before anything is given. */
  readonly directory: string;
}

/**
 * Reads the machine and the account that is on the disk. Undefined: all containers share all memory. Rejects where the
 * machine, the configuration and the account do not fit together.
 */
export async function createNodeMemory(
  deps: NodeMemoryDeps,
  { isStatic, directory, ...reserved }: NodeMemoryOptions,
): Promise<NodeMemory | undefined> {
  const metrics = declareMemoryMetrics(deps.metrics);
  if (!isStatic) {
    await keepSharedMemory(deps.files, directory);
    return undefined;
  }
  const path = `${directory}/memory_manager_state`;
  const pools = divideMemory(await readNumaMemory(deps), reserved);
  const account = createMemoryAccount(pools, await restoreMemory(deps.files, path, pools));
  const save = createMemorySaver(deps.files, account, path);
  await beginCheckpoint(deps.files, directory, save);
  const blocksOf = (podUid: string, container: string) => account.ofContainer(podUid, container) ?? [];
  return {
    containers: createContainerMemory({ account, metrics, save }),
    allocatable: [...pools].flatMap(([node, ofNode]) =>
      [...ofNode].flatMap(([resource, { allocatable: size }]) =>
        size === 0 ? [] : [{ numaNodes: [node], resource, size }],
      ),
    ),
    blocksOf,
    nodeListOf(podUid, container) {
      const nodes = new Set(blocksOf(podUid, container).flatMap(({ numaNodes }) => numaNodes));
      return nodes.size === 0 ? undefined : [...nodes].sort((a, b) => a - b).join(",");
    },
    release: account.release,
    releaseOthers: account.releaseOthers,
  };
}
