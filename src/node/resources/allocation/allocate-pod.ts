import type { Container, Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer, podUid } from "../../../api/pods.ts";
import { type MergePolicy, mergeHints, type NumaHint } from "../topology/merge-hints.ts";
import { listNumaNodes } from "../topology/numa-mask.ts";
import type { TopologyPolicy } from "../topology/topology-policy.ts";
import type { AllocationRefusal } from "./pod-allocation.ts";

/** A container for which something is given. */
interface AllocationUser {
  readonly podUid: string;
  readonly pod: Pod;
  readonly container: Container;
}

/** From where it is given. */
interface AllocationPlace {
  /** The containers of the pod that are done before this one starts. */
  readonly predecessors: readonly string[];
  /** The NUMA nodes on which the container is to be aligned; undefined: anywhere. */
  readonly numaNodes: ReadonlySet<number> | undefined;
  /** No better nodes could be chosen on this machine, even if nothing else ran on it. */
  readonly isPreferred: boolean;
}

type AllocationHints = ReadonlyArray<readonly NumaHint[] | undefined>;

/** One kind of what is given to containers. */
interface ResourceProvider {
  /** Returns why the container cannot have it; undefined: it has it. */
  allocate(
    user: AllocationUser,
    place: AllocationPlace,
    signal: AbortSignal,
  ): Promise<string | AllocationRefusal | undefined>;
  hintsOfContainer(
    user: AllocationUser,
    predecessors: readonly string[],
    machineNodes: readonly number[],
  ): AllocationHints;
  hintsOfPod(pod: Pod, machineNodes: readonly number[]): AllocationHints;
}

interface AllocatePodDeps {
  /** In the order in which they give. */
  readonly providers: readonly ResourceProvider[];
  readonly topology: TopologyPolicy;
}

/** The containers for which something is given, in the order in which they start. */
export function listAllocatedContainers({ spec }: Pod): Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

/**
 * Gives each container of the pod what is its alone, on the NUMA nodes that the policy chooses. What init containers have, those
 * after them get again.
 */
export async function allocatePod(
  deps: AllocatePodDeps,
  pod: Pod,
  signal: AbortSignal,
): Promise<AllocationRefusal | undefined> {
  const { metrics } = deps.topology;
  const refusal = await metrics.measure(async () => await allocateContainers(deps, pod, signal));
  if (refusal !== undefined) metrics.countError();
  return refusal;
}

async function allocateContainers(
  { providers, topology }: AllocatePodDeps,
  pod: Pod,
  signal: AbortSignal,
): Promise<AllocationRefusal | undefined> {
  const hintsOfPod = ({ nodes }: MergePolicy) => providers.flatMap((each) => each.hintsOfPod(pod, nodes));
  const ofPod = topology.scope === "pod" ? align(topology, hintsOfPod) : undefined;
  if (ofPod === "refused") return NO_LOCALITY;
  const predecessors: string[] = [];
  const isInit = new Set(pod.spec?.initContainers);
  for (const container of listAllocatedContainers(pod)) {
    const user = { podUid: podUid(pod), pod, container };
    const hints = ({ nodes }: MergePolicy) =>
      providers.flatMap((each) => each.hintsOfContainer(user, predecessors, nodes));
    const place = ofPod ?? align(topology, hints);
    if (place === "refused") return NO_LOCALITY;
    for (const provider of providers) {
      const error = await provider.allocate(user, { predecessors, ...place }, signal);
      if (error !== undefined) return typeof error === "string" ? unexpected(error) : error;
    }
    if (ofPod === undefined) countAligned(topology);
    // A sidecar runs beside the containers after it, and shares nothing with them.
    if (isInit.has(container) && !isRestartableInitContainer(container)) predecessors.push(container.name);
  }
  if (ofPod !== undefined) countAligned(topology);
  return undefined;
}

const NO_LOCALITY: AllocationRefusal = {
  reason: "TopologyAffinityError",
  message: "Resources cannot be allocated with Topology locality",
};

/** The NUMA nodes for one container or a whole pod; without a policy any will do. */
function align(
  { merge, scope, metrics }: TopologyPolicy,
  readHints: (merge: MergePolicy) => ReadonlyArray<readonly NumaHint[] | undefined>,
): Pick<AllocationPlace, "numaNodes" | "isPreferred"> | "refused" {
  if (merge === undefined) return { numaNodes: undefined, isPreferred: false };
  const { hint, isAdmitted } = mergeHints(readHints(merge), merge);
  if (isAdmitted) {
    const numaNodes = hint.nodes === undefined ? undefined : new Set(listNumaNodes(hint.nodes));
    return { numaNodes, isPreferred: hint.isPreferred };
  }
  if (merge.policy === "single-numa-node") metrics.countAlignment({ scope, boundary: "numa_node" }, false);
  return "refused";
}

/** Only one policy promises that all is on one node. */
function countAligned({ merge, scope, metrics }: TopologyPolicy): void {
  if (merge?.policy === "single-numa-node") metrics.countAlignment({ scope, boundary: "numa_node" }, true);
}

/** Upstream's words for whatever keeps a pod from what it asks for (pkg/kubelet/cm/admission/errors.go). */
function unexpected(error: string): AllocationRefusal {
  return {
    reason: "UnexpectedAdmissionError",
    message: `Allocate failed due to ${error}, which is unexpected`,
  };
}
