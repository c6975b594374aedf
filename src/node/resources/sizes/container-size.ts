import type { Container, Pod } from "../../../api/gen/types.ts";
import { quantityMilliValue, quantityValue } from "../../../api/quantity.ts";
import { computePodLimits, computePodRequests, hasPodLevelResources } from "../../../api/resources.ts";
import { LinuxContainerResources } from "../../../cri/gen/cri-v1.ts";
import { milliCpuToQuota, milliCpuToShares } from "./cpu-shares.ts";
import { computeHugepageLimits } from "./hugepages.ts";
import { computeOomScoreAdjust } from "./oom-score-adjust.ts";
import type { SizingFacts } from "./sizing-facts.ts";
import { computeSwap } from "./swap.ts";

/** The cgroup settings and OOM score of one container. Follows kuberuntime_container_linux.go. */
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
    unified: { ...resources.unified, ...swap.unified },
  };
}

/** What the pod's containers add up to, without the pod's overhead: for runtimes that size a sandbox (a VM) by it. */
export function computeSandboxResources(pod: Pod, node: SizingFacts): LinuxContainerResources {
  const bare: Pod = pod.spec ? { ...pod, spec: { ...pod.spec, overhead: {} } } : pod;
  const limits = computePodLimits(bare);
  return computeLinuxResources(
    { cpuRequest: computePodRequests(bare)["cpu"], cpuLimit: limits["cpu"], memoryLimit: limits["memory"] },
    node,
  );
}

/** The pod's overhead as requests and limits alike; empty when it has none. */
export function computeOverheadResources(pod: Pod, node: SizingFacts): LinuxContainerResources {
  const overhead = pod.spec?.overhead;
  if (overhead === undefined) return LinuxContainerResources.fromPartial({});
  const cpu = overhead["cpu"];
  return computeLinuxResources({ cpuRequest: cpu, cpuLimit: cpu, memoryLimit: overhead["memory"] }, node);
}

/** Quantities; undefined means that the pod says nothing. */
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
    unified: node.cgroupVersion === 2 && !node.singleProcessOomKill ? { "memory.oom.group": "1" } : {},
  });
}

/** A container without a limit of its own is bounded by its pod's, where the pod has one. */
function limitOf(pod: Pod, limits: Readonly<Record<string, string>>, resource: "cpu" | "memory"): string | undefined {
  const own = limits[resource];
  if (own !== undefined && quantityMilliValue(own) !== 0n) return own;
  return hasPodLevelResources(pod) ? pod.spec?.resources?.limits?.[resource] : own;
}
