import { formatCpuList, withoutCpus } from "../../../base/cpu-list.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { CpuSettings } from "../../../config/cpu-settings.ts";
import type { Files } from "../../../host/port.ts";
import type { NodeReservations } from "../capacity/node-reservations.ts";
import type { SizingFacts } from "../sizes/sizing-facts.ts";
import type { TopologyMetrics } from "../topology/metrics.ts";
import { type ContainerCpus, createContainerCpus } from "./container-cpus.ts";
import { type CpuAccount, createCpuAccount } from "./cpu-account.ts";
import { createCpuSaver, keepSharedCpus, restoreCpus } from "./cpu-checkpoint-file.ts";
import { type CpuTopology, readCpuTopology } from "./cpu-topology.ts";
import { MAX_DIVIDED_NUMA_NODES } from "./divide-cpus.ts";
import { declareCpuMetrics } from "./metrics.ts";
import { type CpuPools, reserveCpus } from "./reserve-cpus.ts";

/** The CPUs of this node, some of which containers have for themselves. */
export interface NodeCpus extends Pick<CpuAccount, "release" | "releaseOthers"> {
  readonly containers: ContainerCpus;
  /** The CPUs that containers may have for themselves, in order. */
  readonly allocatable: readonly number[];
  /** The CPUs that the container has for itself, in order. */
  exclusiveOf(podUid: string, container: string): number[];
  /** The kernel's list of the CPUs on which the container runs; undefined: any. */
  cpuListOf(podUid: string, container: string): string | undefined;
  /** The facts by which the container, or the pod as a whole, is sized: who has CPUs has no quota of their time. */
  sizingOf<Facts extends Pick<SizingFacts, "cpuCfsQuota">>(facts: Facts, podUid: string, container?: string): Facts;
  /** Resolves when the account is on the disk; rejects as the disk does. */
  save(): Promise<void>;
}

interface NodeCpusDeps {
  readonly files: Pick<Files, "list" | "makeDirectory" | "read" | "stat" | "writeAtomically">;
  readonly metrics: Metrics;
  readonly alignment: Pick<TopologyMetrics, "countAlignment">;
}

interface NodeCpusOptions {
  readonly settings: CpuSettings;
  readonly reservations: NodeReservations;
  /** The account is in the file `cpu_manager_state` of this directory, which exists before anything is given. */
  readonly directory: string;
}

/**
 * Reads the machine and the account that is on the disk. Undefined: all containers share all CPUs. Rejects where the
 * machine, the configuration and the account do not fit together.
 */
export async function createNodeCpus(
  { files, metrics, alignment }: NodeCpusDeps,
  { settings, reservations, directory }: NodeCpusOptions,
): Promise<NodeCpus | undefined> {
  if (settings.policy === "none") {
    declareCpuMetrics(metrics, undefined);
    await keepSharedCpus(files, directory);
    return undefined;
  }
  const path = `${directory}/cpu_manager_state`;
  const machine = await readCpuTopology(files);
  refuseMachine(machine, settings);
  const pools = reserveCpus(machine, reservations, settings);
  const account = createCpuAccount(pools.usable, await restoreCpus(files, path, pools));
  const save = createCpuSaver(files, account, path);
  const { topology, reserved } = pools;
  const allocatable = withoutCpus(new Set(topology.keys()), reserved);
  const containers = createContainerCpus({
    topology,
    reserved,
    preferences: settings,
    account,
    alignment,
    metrics: declareCpuMetrics(metrics, () => countPools(pools, account)),
    save,
  });
  return {
    containers,
    allocatable: [...allocatable].sort((a, b) => a - b),
    exclusiveOf: (uid, container) => [...(account.ofContainer(uid, container) ?? [])].sort((a, b) => a - b),
    cpuListOf: (uid, container) => formatCpuList(account.ofContainer(uid, container) ?? account.shared()) || undefined,
    sizingOf(facts, uid, container) {
      const ofPod = account.ofPod(uid);
      const isOwner = container === undefined ? ofPod.size > 0 : ofPod.has(container);
      return isOwner && settings.liftsQuota ? { ...facts, cpuCfsQuota: false } : facts;
    },
    release: account.release,
    releaseOthers: account.releaseOthers,
    save,
  };
}

/** Some options are for some machines only. */
function refuseMachine(topology: CpuTopology, settings: CpuSettings): void {
  const count = (level: "numaNode" | "socket") => new Set([...topology.values()].map((place) => place[level])).size;
  const refuse = (option: string, problem: string) => {
    throw new Error(`cpuManagerPolicyOptions ${option}: ${problem}, leave it out`);
  };
  if (settings.alignsToSockets && count("socket") > count("numaNode")) {
    refuse("align-by-socket", "unsupported on machines with more sockets than NUMA nodes");
  }
  if (settings.dividesAcrossNumaNodes && count("numaNode") > MAX_DIVIDED_NUMA_NODES) {
    const problem = `unsupported on machines with more than ${MAX_DIVIDED_NUMA_NODES} NUMA nodes`;
    refuse("distribute-cpus-across-numa", problem);
  }
}

/** Returns the facts by which a container, or a pod as a whole, is sized; without CPUs of their own they are all the same. */
export function createSizing(
  facts: SizingFacts,
  cpus: Pick<NodeCpus, "sizingOf"> | undefined,
): (podUid: string, container?: string) => SizingFacts {
  return (podUid, container) => cpus?.sizingOf(facts, podUid, container) ?? facts;
}

function countPools({ topology, reserved }: CpuPools, account: CpuAccount) {
  const exclusiveByNode = new Map([...topology.values()].map(({ numaNode }) => [numaNode, 0]));
  for (const cpu of account.inUse()) {
    const node = topology.get(cpu)?.numaNode ?? 0;
    exclusiveByNode.set(node, (exclusiveByNode.get(node) ?? 0) + 1);
  }
  return { free: withoutCpus(account.shared(), reserved).size, exclusiveByNode };
}
