import type { Container, Pod } from "../../../api/gen/types.ts";
import { quantityMilliValue, quantityValue } from "../../../api/quantity.ts";
import { computePodLimits, computePodRequests, hasPodLevelResources } from "../../../api/resources.ts";
import { LinuxContainerResources } from "../../../cri/gen/cri-v1.ts";
import { milliCpuToQuota, milliCpuToShares } from "./cpu-shares.ts";
import { computeHugepageLimits } from "./hugepages.ts";
import { computeContainerMemoryQos } from "./memory-qos.ts";
import { computeOomScoreAdjust } from "./oom-score-adjust.ts";
import type { SizingFacts } from "./sizing-facts.ts";
import { computeSwap } from "./swap.ts";

/** Computes the cgroup settings and the OOM score of one container. Follows kuberuntime_container_linux.go. */
export function computeContainerResources(pod: Pod, container: Container, node: SizingFacts): LinuxContainerResources {
  const { requests = {}, limits = {} } = container.resources ?? {};
  const resources = computeLinuxResources(
    {
      cpuRequest: requests["cpu"],
      cpuLimit: limitOf(pod, limits, "cpu"),
      memoryLimit: limitOf(pod, limits, "memory"),
    },
    node,
  );
  const swap = computeSwap(pod, container, { node, memoryLimitBytes: resources.memoryLimitInBytes });
  return {
    ...resources,
    oomScoreAdj: computeOomScoreAdjust(pod, container, node.memoryCapacityBytes),
    hugepageLimits: computeHugepageLimits(limits, node.hugepageSizes),
    memorySwapLimitInBytes: swap.memorySwapLimitInBytes ?? 0n,
    unified: { ...resources.unified, ...swap.unified, ...computeContainerMemoryQos(pod, container, node.memoryQos) },
  };
}

/** Computes the sum of the pod's containers, without the pod's overhead. Runtimes size a sandbox (a VM) by it. */
export function computeSandboxResources(pod: Pod, node: SizingFacts): LinuxContainerResources {
  const bare: Pod = pod.spec ? { ...pod, spec: { ...pod.spec, overhead: {} } } : pod;
  const limits = computePodLimits(bare);
  return computeLinuxResources(
    { cpuRequest: computePodRequests(bare)["cpu"], cpuLimit: limits["cpu"], memoryLimit: limits["memory"] },
    node,
  );
}

/** Computes the pod's overhead as both requests and limits; empty when it has none. */
export function computeOverheadResources(pod: Pod, node: SizingFacts): LinuxContainerResources {
  const overhead = pod.spec?.overhead;
  if (overhead === undefined) return LinuxContainerResources.fromPartial({});
  const cpu = overhead["cpu"];
  return computeLinuxResources({ cpuRequest: cpu, cpuLimit: cpu, memoryLimit: overhead["memory"] }, node);
}

/** These are quantities; undefined means that the pod does not set the value. */
interface Amounts {
  cpuRequest: string | undefined;
  cpuLimit: string | undefined;
  memoryLimit: string | undefined;
}

function computeLinuxResources(amounts: Amounts, node: SizingFacts): LinuxContainerResources {
  const cpuLimit = quantityMilliValue(amounts.cpuLimit ?? "0");
  // Defaulting makes a missing request equal the limit; a pod that skipped defaulting must not be starved.
  const cpuRequest = amounts.cpuRequest === undefined ? cpuLimit : quantityMilliValue(amounts.cpuRequest);
  const period = node.cpuCfsQuotaPeriodMicroseconds;
  return LinuxContainerResources.fromPartial({
    cpuShares: milliCpuToShares(cpuRequest),
    ...(node.cpuCfsQuota ? { cpuPeriod: period, cpuQuota: milliCpuToQuota(cpuLimit, period) } : {}),
    memoryLimitInBytes: quantityValue(amounts.memoryLimit ?? "0"),
    unified: killsAtOnce(node) ? { "memory.oom.group": "1" } : {},
  });
}

/** True where the kernel can kill all processes of a container at once when its memory runs out, and shall. */
function killsAtOnce({ cgroupVersion, hasMemoryController, singleProcessOomKill }: SizingFacts): boolean {
  return cgroupVersion === 2 && hasMemoryController && !singleProcessOomKill;
}

/** Returns the container's limit. A container without its own is bounded by its pod's limit, where the pod has one. */
function limitOf(pod: Pod, limits: Readonly<Record<string, string>>, resource: "cpu" | "memory"): string | undefined {
  const own = limits[resource];
  if (own !== undefined && quantityMilliValue(own) !== 0n) return own;
  return hasPodLevelResources(pod) ? pod.spec?.resources?.limits?.[resource] : own;
}
