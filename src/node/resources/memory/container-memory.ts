import type { Container, Pod } from "../../../api/gen/types.ts";
import { podContainers, podUid } from "../../../api/pods.ts";
import { messageOf } from "../../../base/errors.ts";
import type { NumaHint } from "../topology/merge-hints.ts";
import { listNumaNodes, numaMaskOf } from "../topology/numa-mask.ts";
import type { MemoryAccount } from "./memory-account.ts";
import {
  chooseMemoryHint,
  computeMemoryHints,
  hasFreeMemory,
  hintsAround,
  isAgainstGroups,
  type MemoryHint,
} from "./memory-hints.ts";
import type { MemoryBlock } from "./memory-state.ts";
import type { MemoryMetrics } from "./metrics.ts";
import { type RequestedMemory, requestedMemoryOf, requestedMemoryOfPod } from "./requested-memory.ts";

interface MemoryUser {
  readonly podUid: string;
  readonly pod: Pod;
  readonly container: Container;
}

/** From where the container's memory is to come. */
interface MemoryPlace {
  /** The containers of the pod that are done before this one starts. */
  readonly predecessors: readonly string[];
  /** The NUMA nodes that were chosen for all that the container has; undefined: any. */
  readonly numaNodes: ReadonlySet<number> | undefined;
  /** The choice is the best that there could be, and has to stay so. */
  readonly isPreferred: boolean;
}

type ContainerMemoryHints = ReadonlyArray<readonly NumaHint[] | undefined>;

/** Gives containers memory of their own. */
export interface ContainerMemory {
  /** Whether any container of the pod has memory of its own. */
  concerns(pod: Pod): boolean;
  /** Returns why the container cannot have its memory; undefined where it has it, which is on the disk by then. */
  allocate(user: MemoryUser, place: MemoryPlace): Promise<string | undefined>;
  /** Where the memory of the container could be given, for each resource; see `computeMemoryHints`. */
  hintsOfContainer(user: MemoryUser, predecessors: readonly string[]): ContainerMemoryHints;
  /** Where the memory of the whole pod could be given. */
  hintsOfPod(pod: Pod): ContainerMemoryHints;
}

interface ContainerMemoryDeps {
  readonly account: MemoryAccount;
  readonly metrics: MemoryMetrics;
  /** Resolves when the account is on the disk. */
  save(): Promise<void>;
}

/** Follows upstream's static policy (cm/memorymanager/policy_static.go), whose words the refusals are. */
export function createContainerMemory({ account, metrics, save }: ContainerMemoryDeps): ContainerMemory {
  const hintsOf = (uid: string, wanted: RequestedMemory, predecessors: readonly string[]): MemoryHint[] =>
    computeMemoryHints({
      state: account.state(),
      wanted,
      reusable: (resource, numaNodes) => account.sizeOf(uid, predecessors, { resource, numaNodes }),
    });

  const choose = ({ podUid, container }: MemoryUser, place: MemoryPlace, wanted: RequestedMemory) => {
    const { predecessors } = place;
    const hints = hintsOf(podUid, wanted, predecessors);
    const chosen = chooseNodes(hints, place, (nodes) => hasFreeMemory(account.state(), nodes, wanted));
    if (typeof chosen === "string") return chosen;
    if (isAgainstGroups(account.state(), chosen)) return "[memorymanager] preferred hint violates NUMA node allocation";
    const blocks = [...wanted].map(([resource, size]): MemoryBlock => ({ numaNodes: chosen, resource, size }));
    account.assign(podUid, container.name, { blocks, predecessors });
    return undefined;
  };

  return {
    concerns: (pod) => podContainers(pod).some(({ container }) => requestedMemoryOf(pod, container).size > 0),
    async allocate(user, place) {
      const wanted = requestedMemoryOf(user.pod, user.container);
      if (wanted.size === 0) return undefined;
      metrics.countRequest();
      if (account.ofContainer(user.podUid, user.container.name) !== undefined) return undefined;
      const refusal = choose(user, place, wanted) ?? (await saved(save));
      if (refusal !== undefined) metrics.countError();
      return refusal;
    },
    hintsOfContainer({ podUid, pod, container }, predecessors) {
      const wanted = requestedMemoryOf(pod, container);
      if (wanted.size === 0) return [];
      const present = account.ofContainer(podUid, container.name);
      if (present !== undefined) return hintsOfPresent(present, wanted);
      return forEach(wanted, hintsOf(podUid, wanted, predecessors));
    },
    hintsOfPod(pod) {
      const wanted = requestedMemoryOfPod(pod);
      if (wanted.size === 0) return [];
      const uid = podUid(pod);
      const names = podContainers(pod).map(({ container }) => container.name);
      const present = names.map((name) => account.ofContainer(uid, name)).find((blocks) => blocks !== undefined);
      return present === undefined ? forEach(wanted, hintsOf(uid, wanted, [])) : hintsOfPresent(present, wanted);
    },
  };
}

/** Returns why there are none that would do. */
function chooseNodes(
  hints: readonly MemoryHint[],
  { numaNodes, isPreferred }: MemoryPlace,
  hasEnough: (nodes: readonly number[]) => boolean,
): readonly number[] | string {
  if (numaNodes !== undefined) {
    const nodes = [...numaNodes].sort((a, b) => a - b);
    if (hasEnough(nodes)) return nodes;
    const wider = chooseMemoryHint(hintsAround(hints, nodes));
    if (wider === undefined) {
      return "[memorymanager] failed to find NUMA nodes to extend the current topology hint";
    }
    if (isPreferred && !wider.isPreferred) return "[memorymanager] failed to find the extended preferred hint";
    return listNumaNodes(wider.nodes);
  }
  const best = chooseMemoryHint(hints);
  if (best === undefined) {
    const problem = "no NUMA nodes with enough memory is available";
    return `[memorymanager] failed to get the default NUMA affinity, ${problem}`;
  }
  if (isPreferred && !best.isPreferred) return "[memorymanager] failed to find the default preferred hint";
  return listNumaNodes(best.nodes);
}

/** Nodes that have not enough for any hint do not matter: the allocation tells why nothing can be given. */
function forEach(wanted: RequestedMemory, hints: readonly MemoryHint[]): ContainerMemoryHints {
  return hints.length === 0 ? [] : [...wanted].map(() => hints);
}

/** The hints of who has its memory already. */
function hintsOfPresent(blocks: readonly MemoryBlock[], wanted: RequestedMemory): ContainerMemoryHints {
  const isSame = blocks.length === wanted.size && blocks.every(({ resource, size }) => wanted.get(resource) === size);
  return isSame ? blocks.map(({ numaNodes }) => [{ nodes: numaMaskOf(numaNodes), isPreferred: true }]) : [];
}

async function saved(save: () => Promise<void>): Promise<string | undefined> {
  try {
    await save();
    return undefined;
  } catch (error) {
    return `failed to write checkpoint file "memory_manager_state": ${messageOf(error)}`;
  }
}
