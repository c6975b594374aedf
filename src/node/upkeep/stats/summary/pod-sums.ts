import { type CgroupMemory, NO_CGROUP_MEMORY } from "../../../../host/cgroups-port.ts";
import type { MeasuredCgroup, PodUsage } from "../readings/usage-snapshot.ts";

/**
 * Describes a pod as if it were one cgroup, by adding up its containers and its sandbox. This also works where pods
 * have no cgroups of their own. If each container has a limit, the pod's limit is their sum; otherwise the pod has
 * none. Where the runtime tells of the pod, that is taken, and the swap of its containers, which it does not tell.
 */
export function sumOfPod(pod: PodUsage): MeasuredCgroup {
  const sum = sumOfMembers(pod);
  const total = pod.told?.total;
  if (total === undefined) return sum;
  const { swap = 0, swapLimit } = sum.usage.memory ?? {};
  const { memory } = total.usage;
  return { ...total, usage: { ...total.usage, memory: memory && { ...memory, swap, swapLimit } } };
}

function sumOfMembers({ sandbox, containers, cpuTotal, createdAt, pressure }: PodUsage): MeasuredCgroup {
  const members = sandbox === undefined ? containers : [...containers, sandbox];
  const memory = addMemory(members);
  // The sandbox needs no limit, because it does nothing.
  const limits = containers.map(({ usage }) => usage.memory?.limit);
  const swapLimits = containers.map(({ usage }) => usage.memory?.swapLimit);
  return {
    at: Math.max(createdAt, ...members.map(({ at }) => at)),
    cpuRate: addRates(members),
    usage: {
      cpu:
        cpuTotal === undefined ? undefined : { usageNanoseconds: cpuTotal, userNanoseconds: 0, systemNanoseconds: 0 },
      memory: memory && { ...memory, limit: addLimits(limits), swapLimit: addLimits(swapLimits) },
      pids: members.flatMap(({ usage }) => usage.pids),
      pressure,
      details: undefined,
    },
  };
}

/**
 * Describes all pods as one cgroup. Only the rate of processor time is given, because the counters of pods disappear
 * with the pods.
 */
export function sumOfPods(pods: readonly PodUsage[], at: number): MeasuredCgroup {
  const sums = pods.map(sumOfPod);
  const memory = sums.length === 0 ? NO_CGROUP_MEMORY : addMemory(sums);
  return {
    at,
    cpuRate: sums.length === 0 ? 0 : addRates(sums),
    usage: {
      cpu: undefined,
      memory: memory && { ...memory, limit: undefined, swapLimit: undefined },
      pids: sums.flatMap(({ usage }) => usage.pids),
      pressure: {},
      details: undefined,
    },
  };
}

function addMemory(members: readonly MeasuredCgroup[]): CgroupMemory | undefined {
  const all = members.map(({ usage }) => usage.memory).filter((memory) => memory !== undefined);
  if (all.length === 0) return undefined;
  const add = (fieldOf: (memory: CgroupMemory) => number) => all.reduce((sum, memory) => sum + fieldOf(memory), 0);
  return {
    usage: add(({ usage }) => usage),
    workingSet: add(({ workingSet }) => workingSet),
    rss: add(({ rss }) => rss),
    cache: add(({ cache }) => cache),
    mappedFile: add(({ mappedFile }) => mappedFile),
    activeFile: add(({ activeFile }) => activeFile),
    inactiveFile: add(({ inactiveFile }) => inactiveFile),
    swap: add(({ swap }) => swap),
    pageFaults: add(({ pageFaults }) => pageFaults),
    majorPageFaults: add(({ majorPageFaults }) => majorPageFaults),
    limit: undefined,
    swapLimit: undefined,
  };
}

function addLimits(limits: ReadonlyArray<number | undefined>): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length < limits.length ? undefined : known.reduce((sum, limit) => sum + limit, 0);
}

/** Adds up the known rates. The result is undefined when no rate is known. */
function addRates(members: readonly MeasuredCgroup[]): number | undefined {
  const known = members.map(({ cpuRate }) => cpuRate).filter((rate) => rate !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, rate) => sum + rate, 0);
}
