import type { Container, Pod } from "../../../api/gen/types.ts";
import { podContainers, podUid } from "../../../api/pods.ts";
import { type CpuSet, withoutCpus } from "../../../base/cpu-list.ts";
import { messageOf } from "../../../base/errors.ts";
import type { NumaHint } from "../topology/merge-hints.ts";
import type { TopologyMetrics } from "../topology/metrics.ts";
import type { CpuAccount } from "./cpu-account.ts";
import { computeCpuHints } from "./cpu-hints.ts";
import { type CpuTopology, countCpusOfCore, withSiblings } from "./cpu-topology.ts";
import { countExclusiveCpus, countExclusiveCpusOfPod } from "./exclusive-cpus.ts";
import type { CpuMetrics } from "./metrics.ts";
import { type CpuPreferences, takeCpus } from "./take-cpus.ts";

interface CpuUser {
  readonly podUid: string;
  readonly pod: Pod;
  readonly container: Container;
}

/** From where the container's CPUs may come. */
interface CpuSources {
  /** The containers of the pod that are done before this one starts. */
  readonly predecessors: readonly string[];
  /** The NUMA nodes whose CPUs come first; undefined: any. */
  readonly numaNodes: ReadonlySet<number> | undefined;
}

/** A refusal with a reason of its own. */
interface CpuRefusal {
  readonly reason: string;
  readonly message: string;
}

type CpuHints = ReadonlyArray<readonly NumaHint[] | undefined>;

/** Gives containers CPUs of their own. */
export interface ContainerCpus {
  /** Whether any container of the pod has CPUs of its own. */
  concerns(pod: Pod): boolean;
  /** Returns why the container cannot have its CPUs; undefined where it has them, which is on the disk by then. */
  allocate(user: CpuUser, place: CpuSources): Promise<string | CpuRefusal | undefined>;
  /** Where the CPUs of the container could be given; see `computeCpuHints`. */
  hintsOfContainer(user: CpuUser, predecessors: readonly string[]): CpuHints;
  /** Where the CPUs of the whole pod could be given. */
  hintsOfPod(pod: Pod): CpuHints;
}

interface ContainerCpusDeps {
  readonly topology: CpuTopology;
  /** The CPUs that no container has for itself. */
  readonly reserved: CpuSet;
  readonly preferences: CpuPreferences;
  readonly account: CpuAccount;
  readonly metrics: CpuMetrics;
  readonly alignment: Pick<TopologyMetrics, "countAlignment">;
  /** Resolves when the account is on the disk. */
  save(): Promise<void>;
}

const CACHE = { scope: "container", boundary: "uncore_cache" } as const;
const CORES = { scope: "container", boundary: "physical_cpu" } as const;

export function createContainerCpus(deps: ContainerCpusDeps): ContainerCpus {
  const { topology, reserved, account, metrics, alignment, preferences } = deps;
  const { alignsToSockets, wholeCoresOnly } = preferences;
  const available = () => withoutCpus(account.shared(), reserved);
  const hintsOf = (wanted: number, reusable: CpuSet) =>
    computeCpuHints({ topology, wanted, available: available(), reusable, alignsToSockets });
  /** The hints of who has its CPUs already. */
  const hintsOfPresent = (wanted: number, present: CpuSet) =>
    present.size === wanted
      ? computeCpuHints({ topology, wanted, available: new Set(), reusable: present, alignsToSockets })
      : [];

  const choose = ({ podUid, container }: CpuUser, place: CpuSources, wanted: number) => {
    const reusable = findReusable(account.ofPod(podUid), place.predecessors);
    const allocatable = new Set([...available(), ...reusable]);
    if (wholeCoresOnly) {
      const unaligned = findUnaligned({ topology, reserved, allocatable, wanted });
      if (unaligned !== undefined) return unaligned;
    }
    const near = findNear(allocatable, place.numaNodes);
    const first =
      takeCpus({ topology, available: near, wanted: Math.min(wanted, near.size) }, preferences) ?? new Set();
    const others = { topology, available: withoutCpus(allocatable, first), wanted: wanted - first.size };
    const rest = takeCpus(others, preferences);
    if (rest === undefined) {
      const amounts = `requested=${wanted - first.size}, available=${allocatable.size - first.size}`;
      return `not enough cpus available to satisfy request: ${amounts}`;
    }
    const cpus = new Set([...first, ...rest]);
    account.assign(podUid, container.name, cpus);
    if (new Set([...cpus].map((cpu) => topology.get(cpu)?.cache)).size === 1) alignment.countAlignment(CACHE, true);
    return undefined;
  };
  /** The CPUs of the nodes; of all nodes of their sockets, where those are as close. */
  const findNear = (allocatable: CpuSet, numaNodes: ReadonlySet<number> | undefined): CpuSet => {
    const isOn = (cpu: number) => numaNodes?.has(topology.get(cpu)?.numaNode ?? 0) === true;
    if (!alignsToSockets) return new Set([...allocatable].filter(isOn));
    const sockets = new Set([...topology].flatMap(([cpu, { socket }]) => (isOn(cpu) ? [socket] : [])));
    return new Set([...allocatable].filter((cpu) => sockets.has(topology.get(cpu)?.socket ?? 0)));
  };

  return {
    concerns: (pod) => podContainers(pod).some(({ container }) => countExclusiveCpus(pod, container) > 0),
    async allocate(user, place) {
      const wanted = countExclusiveCpus(user.pod, user.container);
      if (wanted === 0) return undefined;
      metrics.countRequest();
      if (account.ofContainer(user.podUid, user.container.name) !== undefined) return undefined;
      const refusal = choose(user, place, wanted) ?? (await saved(deps.save));
      if (refusal !== undefined) metrics.countError();
      if (wholeCoresOnly) alignment.countAlignment(CORES, refusal === undefined);
      return refusal;
    },
    hintsOfContainer({ podUid, pod, container }, predecessors) {
      const wanted = countExclusiveCpus(pod, container);
      if (wanted === 0) return [];
      const present = account.ofContainer(podUid, container.name);
      if (present !== undefined) return [hintsOfPresent(wanted, present)];
      return [hintsOf(wanted, findReusable(account.ofPod(podUid), predecessors))];
    },
    hintsOfPod(pod) {
      const wanted = countExclusiveCpusOfPod(pod);
      if (wanted === 0) return [];
      const present = new Set([...account.ofPod(podUid(pod)).values()].flatMap((cpus) => [...cpus]));
      return [present.size === wanted ? hintsOfPresent(wanted, present) : hintsOf(wanted, present)];
    },
  };
}

/** The CPUs of containers that are done, without those that one after them has got. */
function findReusable(ofPod: ReadonlyMap<string, CpuSet>, predecessors: readonly string[]): CpuSet {
  const own = [...ofPod].flatMap(([name, cpus]) => (predecessors.includes(name) ? [] : [...cpus]));
  return withoutCpus(new Set(predecessors.flatMap((name) => [...(ofPod.get(name) ?? [])])), new Set(own));
}

interface WholeCores {
  readonly topology: CpuTopology;
  readonly reserved: CpuSet;
  readonly allocatable: CpuSet;
  readonly wanted: number;
}

/** Upstream's `SMTAlignmentError`: the container would share a core. */
function findUnaligned({ topology, reserved, allocatable, wanted }: WholeCores): CpuRefusal | undefined {
  const ofCore = countCpusOfCore(topology);
  const refuse = (problem: string) => ({ reason: "SMTAlignmentError", message: `SMT Alignment Error: ${problem}` });
  if (wanted % ofCore !== 0) return refuse(`requested ${wanted} cpus not multiple cpus per core = ${ofCore}`);
  const { size } = withoutCpus(allocatable, withSiblings(topology, reserved));
  if (wanted <= size) return undefined;
  const amounts = `available physical CPUs = ${size}, requested CPUs = ${wanted}, CPUs per core = ${ofCore}`;
  return refuse(`not enough free physical CPUs: ${amounts}`);
}

async function saved(save: () => Promise<void>): Promise<string | undefined> {
  try {
    await save();
    return undefined;
  } catch (error) {
    return `failed to write checkpoint file "cpu_manager_state": ${messageOf(error)}`;
  }
}
