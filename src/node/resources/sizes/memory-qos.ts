import type { Container, Pod } from "../../../api/gen/types.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { quantityValue } from "../../../api/quantity.ts";
import type { ResourceList } from "../../../api/resources.ts";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import type { ClassRequests } from "./class-requests.ts";
import type { MemoryQos, SizingFacts } from "./sizing-facts.ts";

/**
 * `memory.high` is written in pages of this size. The kernel rounds it down to its own pages, which are as large or
 * larger.
 */
const PAGE_BYTES = 4_096;

/**
 * Computes the files of version 2 of cgroups that protect and throttle a container's memory (the gate `MemoryQoS`;
 * upstream: `generateLinuxContainerResources` of kuberuntime_container_linux.go). The kernel slows a container down
 * above `memory.high`, and takes back what is below `memory.low` late and what is below `memory.min` never.
 */
export function computeContainerMemoryQos(
  pod: Pod,
  { resources }: Pick<Container, "resources">,
  memoryQos: SizingFacts["memoryQos"],
): Record<string, string> {
  if (memoryQos === undefined) return {};
  const request = quantityValue(resources?.requests?.["memory"] ?? "0");
  const limit = quantityValue(resources?.limits?.["memory"] ?? "0");
  const high = computeHigh(request, limit, memoryQos);
  return {
    ...(request !== 0n && memoryQos.isReserving
      ? { [isGuaranteed(pod) ? "memory.min" : "memory.low"]: `${request}` }
      : { "memory.min": "0", "memory.low": "0" }),
    ...(high !== undefined && { "memory.high": `${high}` }),
  };
}

/** Computes the protection of a pod's cgroup, which bounds that of its containers. */
export function computePodProtection(
  pod: Pod,
  requests: Readonly<ResourceList>,
  memoryQos: SizingFacts["memoryQos"],
): Pick<CgroupLimits, "memoryMin" | "memoryLow"> {
  const request = quantityValue(requests["memory"] ?? "0");
  if (memoryQos?.isReserving !== true || request <= 0n) return {};
  return isGuaranteed(pod) ? { memoryMin: request } : { memoryLow: request };
}

/**
 * Computes the protection of the QoS classes. The cgroup of the guaranteed class holds the burstable one, so it protects
 * what both ask for (upstream: `setMemoryQoS` of cm/qos_container_manager_linux.go).
 */
export function computeClassProtection(
  { Guaranteed, Burstable }: ClassRequests,
  memoryQos: SizingFacts["memoryQos"],
): Readonly<Record<"Guaranteed" | "Burstable", Pick<CgroupLimits, "memoryMin" | "memoryLow">>> {
  if (memoryQos === undefined) return { Guaranteed: {}, Burstable: {} };
  if (!memoryQos.isReserving) return { Guaranteed: { memoryMin: 0n }, Burstable: { memoryLow: 0n } };
  return {
    Guaranteed: { memoryMin: Guaranteed.memoryBytes + Burstable.memoryBytes },
    Burstable: { memoryLow: Burstable.memoryBytes },
  };
}

/**
 * Computes how much memory the classes may use when part of what better classes ask for is kept back for these
 * (`qosReserved`; upstream: `setMemoryReserve` of cm/qos_container_manager_linux.go). A class always has a page.
 */
export function computeClassMemory(
  { Guaranteed, Burstable }: ClassRequests,
  keptBack: SizingFacts["memoryKeptBack"],
): Readonly<Record<"Burstable" | "BestEffort", Pick<CgroupLimits, "memoryBytes">>> {
  if (keptBack === undefined || keptBack.allocatableBytes === 0n) return { Burstable: {}, BestEffort: {} };
  const { percent, allocatableBytes } = keptBack;
  const burstable = allocatableBytes - (Guaranteed.memoryBytes * percent) / 100n;
  const bestEffort = burstable - (Burstable.memoryBytes * percent) / 100n;
  const atLeastAPage = (bytes: bigint) => (bytes < PAGE_BYTES ? BigInt(PAGE_BYTES) : bytes);
  return {
    Burstable: { memoryBytes: atLeastAPage(burstable) },
    BestEffort: { memoryBytes: atLeastAPage(bestEffort) },
  };
}

function isGuaranteed(pod: Pod): boolean {
  return computeQosClass(pod) === "Guaranteed";
}

/** Undefined: the container is not throttled, because its request is its limit, or leaves no room. */
function computeHigh(
  request: bigint,
  limit: bigint,
  { throttlingFactor, allocatableBytes }: MemoryQos,
): bigint | undefined {
  if (request === limit) return undefined;
  const most = limit === 0n ? allocatableBytes : limit;
  const bytes = Number(request) + (Number(most) - Number(request)) * throttlingFactor;
  const high = BigInt(Math.trunc(Math.floor(bytes) / PAGE_BYTES)) * BigInt(PAGE_BYTES);
  return most > 0n && high > request ? high : undefined;
}
