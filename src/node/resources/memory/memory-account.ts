import type { MemoryPools } from "./memory-pools.ts";
import { computeMemoryState, isSameGroup, type MemoryBlock, type MemoryState } from "./memory-state.ts";

/** The blocks of containers, by pod and container. */
export type MemoryAssignments = ReadonlyMap<string, ReadonlyMap<string, readonly MemoryBlock[]>>;

/** Which containers have which memory. It is the only account of it; the checkpoint is its copy on the disk. */
export interface MemoryAccount {
  /** What the predecessors have on the same nodes passes to the container: together they hold what was given once. */
  assign(podUid: string, container: string, given: GivenMemory): void;
  /** Undefined where the container has no memory of its own. */
  ofContainer(podUid: string, container: string): readonly MemoryBlock[] | undefined;
  /** The bytes of a resource that containers of the pod have on exactly these nodes. */
  sizeOf(podUid: string, containers: readonly string[], place: Omit<MemoryBlock, "size">): number;
  state(): MemoryState;
  release(podUid: string): void;
  /** Releases all pods but these. */
  releaseOthers(keep: ReadonlySet<string>): void;
  list(): MemoryAssignments;
}

interface GivenMemory {
  readonly blocks: readonly MemoryBlock[];
  /** The containers of the pod that are done before this one starts. */
  readonly predecessors: readonly string[];
}

export function createMemoryAccount(pools: MemoryPools, restored: MemoryAssignments): MemoryAccount {
  const pods = new Map([...restored].map(([uid, containers]) => [uid, new Map(containers)]));
  const allBlocks = () => [...pods.values()].flatMap((containers) => [...containers.values()].flat());
  return {
    assign(podUid, container, { blocks, predecessors }) {
      const ofPod = pods.get(podUid) ?? new Map<string, readonly MemoryBlock[]>();
      pods.set(podUid, ofPod);
      for (const block of blocks) {
        let rest = block.size;
        for (const name of predecessors) {
          const left: MemoryBlock[] = [];
          for (const had of ofPod.get(name) ?? []) {
            const passed = isSamePlace(had, block) ? Math.min(rest, had.size) : 0;
            rest -= passed;
            left.push({ ...had, size: had.size - passed });
          }
          if (ofPod.has(name)) ofPod.set(name, left);
        }
      }
      ofPod.set(container, blocks);
    },
    ofContainer: (podUid, container) => pods.get(podUid)?.get(container),
    sizeOf(podUid, containers, place) {
      const blocks = containers.flatMap((name) => pods.get(podUid)?.get(name) ?? []);
      return blocks.reduce((sum, block) => sum + (isSamePlace(block, place) ? block.size : 0), 0);
    },
    state: () => computeMemoryState(pools, allBlocks()),
    release: (podUid) => pods.delete(podUid),
    releaseOthers(keep) {
      for (const podUid of [...pods.keys()]) if (!keep.has(podUid)) pods.delete(podUid);
    },
    list: () => pods,
  };
}

function isSamePlace(one: Omit<MemoryBlock, "size">, other: Omit<MemoryBlock, "size">): boolean {
  return one.resource === other.resource && isSameGroup(one.numaNodes, other.numaNodes);
}
