import type { Container, Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { compareQuantities, quantityMilliValue, quantityValue } from "../../../api/quantity.ts";
import {
  computePodLimits,
  computePodRequests,
  hasPodLevelResources,
  type ResourceList,
} from "../../../api/resources.ts";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import type { ClassRequests, PodAmounts } from "./class-requests.ts";
import { milliCpuToQuota, milliCpuToShares } from "./cpu-shares.ts";
import { computeHugepageLimits } from "./hugepages.ts";
import { computeClassMemory, computeClassProtection, computePodProtection } from "./memory-qos.ts";
import type { SizingFacts } from "./sizing-facts.ts";

/** The largest limit of huge pages that the kernel takes. */
const UNBOUNDED = 1n << 62n;
const NO_QUOTA = -1n;

/** The settings of a pod's limits, besides the facts about the node. */
interface PodCgroupOptions {
  /** The value of `podPidsLimit`; undefined means as many as the node has. */
  readonly maxTasks: bigint | undefined;
}

/**
 * Computes what the cgroup of a pod allows to all its containers together (upstream: `ResourceConfigForPod`,
 * cm/helpers_linux.go). A limit is set only where every container has one: containers without one may use all that
 * there is.
 */
export function computePodCgroup(
  pod: Pod,
  node: Pick<
    SizingFacts,
    "cpuCfsQuota" | "cpuCfsQuotaPeriodMicroseconds" | "hasMemoryController" | "hugepageSizes" | "memoryQos"
  >,
  { maxTasks }: PodCgroupOptions,
): CgroupLimits {
  const requests = computePodRequests(pod);
  const common = { hugepages: computeHugepages(requests, node.hugepageSizes), maxTasks };
  const qosClass = computeQosClass(pod);
  if (qosClass === "BestEffort") return { ...common, cpuShares: milliCpuToShares(0n) };
  const limits = computePodLimits(pod);
  const isGuaranteed = qosClass === "Guaranteed";
  const cpuShares = milliCpuToShares(quantityMilliValue(requests["cpu"] ?? "0"));
  return {
    ...common,
    cpuShares,
    ...((isGuaranteed || isLimited(pod, "cpu")) && computeQuota(limits["cpu"], node)),
    ...(node.hasMemoryController &&
      (isGuaranteed || isLimited(pod, "memory")) && { memoryBytes: quantityValue(limits["memory"] ?? "0") }),
    ...computePodProtection(pod, requests, node.memoryQos),
  };
}

/** Computes what a pod asks for. */
export function computePodAmounts(pod: Pod): PodAmounts {
  const { cpu = "0", memory = "0" } = computePodRequests(pod);
  return { milliCpu: quantityMilliValue(cpu), memoryBytes: quantityValue(memory) };
}

/** Computes what pods of the QoS classes that have a cgroup may use together. */
export function computeClassCgroups(
  requests: ClassRequests,
  { hugepageSizes, memoryQos, memoryKeptBack }: Pick<SizingFacts, "hugepageSizes" | "memoryQos" | "memoryKeptBack">,
): Readonly<Record<"Guaranteed" | "Burstable" | "BestEffort", CgroupLimits>> {
  const hugepages = new Map(hugepageSizes.map((size) => [size, UNBOUNDED]));
  const protection = computeClassProtection(requests, memoryQos);
  const memory = computeClassMemory(requests, memoryKeptBack);
  const cpuShares = milliCpuToShares(requests.Burstable.milliCpu);
  return {
    Guaranteed: { hugepages, ...protection.Guaranteed },
    Burstable: { hugepages, cpuShares, ...protection.Burstable, ...memory.Burstable },
    BestEffort: { hugepages, cpuShares: milliCpuToShares(0n), ...memory.BestEffort },
  };
}

/**
 * Computes what a cgroup allows of these resources, which are those that are set aside or those of all pods (upstream:
 * `getCgroupConfigInternal`, cm/node_container_manager_linux.go). `pid` counts tasks. Huge pages are not bounded here.
 */
export function computeSharedCgroup(
  resources: Readonly<ResourceList>,
  { compressibleOnly }: { readonly compressibleOnly: boolean },
): CgroupLimits {
  const { cpu, memory, pid } = resources;
  const cpuShares = cpu === undefined ? undefined : milliCpuToShares(quantityMilliValue(cpu));
  if (compressibleOnly) return { cpuShares };
  return {
    cpuShares,
    memoryBytes: memory === undefined ? undefined : quantityValue(memory),
    maxTasks: pid === undefined ? undefined : quantityValue(pid),
  };
}

function computeQuota(
  limit: string | undefined,
  {
    cpuCfsQuota,
    cpuCfsQuotaPeriodMicroseconds: period,
  }: Pick<SizingFacts, "cpuCfsQuota" | "cpuCfsQuotaPeriodMicroseconds">,
): CgroupLimits {
  const quota = cpuCfsQuota ? milliCpuToQuota(quantityMilliValue(limit ?? "0"), period) : NO_QUOTA;
  return { cpuQuotaMicroseconds: quota, cpuPeriodMicroseconds: period };
}

function computeHugepages(requests: Readonly<ResourceList>, sizes: readonly string[]): ReadonlyMap<string, bigint> {
  return new Map(computeHugepageLimits(requests, sizes).map(({ pageSize, limit }) => [pageSize, limit]));
}

/**
 * Tells whether a limit holds at every moment: an init container shares the limit of the sidecars that run beside it.
 */
function isLimited(pod: Pod, resource: "cpu" | "memory"): boolean {
  const has = ({ resources }: Pick<Container, "resources">) =>
    compareQuantities(resources?.limits?.[resource] ?? "0", "0") !== 0;
  if (hasPodLevelResources(pod) && pod.spec !== undefined && has(pod.spec)) return true;
  if (!(pod.spec?.containers ?? []).every(has)) return false;
  let hasLimitedSidecar = false;
  for (const container of pod.spec?.initContainers ?? []) {
    const isSidecar = isRestartableInitContainer(container);
    if (isSidecar && has(container)) hasLimitedSidecar = true;
    if (!has(container) && !hasLimitedSidecar) return false;
  }
  return true;
}
