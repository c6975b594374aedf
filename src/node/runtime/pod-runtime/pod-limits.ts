import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import type { CgroupUsage } from "../../../host/cgroups-port.ts";

interface PodSizes {
  /** Undefined where it cannot be read: everything is set before the containers then. */
  readonly now: CgroupUsage | undefined;
  readonly wanted: CgroupLimits;
}

interface PodLimitSteps {
  /** The limits to set before the containers are resized, in this order, and after. */
  readonly before: readonly CgroupLimits[];
  readonly after: readonly CgroupLimits[];
}

/**
 * The steps by which the cgroup of a pod comes to its wanted limits of one resource. Limits grow before shares and shares
 * shrink before limits. What the pod does not limit stays as it is, as upstream leaves it.
 */
export function planPodLimits(resource: "cpu" | "memory", { now, wanted }: PodSizes): PodLimitSteps {
  return resource === "memory" ? planMemory({ now, wanted }) : planCpu({ now, wanted });
}

function planMemory({ now, wanted }: PodSizes): PodLimitSteps {
  const { memoryBytes } = wanted;
  if (memoryBytes === undefined) return { before: [], after: [] };
  const has = now?.memory?.limit;
  if (now === undefined || (has !== undefined && memoryBytes > BigInt(has))) {
    return { before: [{ memoryBytes }], after: [] };
  }
  return has !== undefined && memoryBytes === BigInt(has) ? NO_STEPS : { before: [], after: [{ memoryBytes }] };
}

const NO_STEPS: PodLimitSteps = { before: [], after: [] };

function planCpu({ now, wanted }: PodSizes): PodLimitSteps {
  const { cpuShares, cpuQuotaMicroseconds: quota, cpuPeriodMicroseconds: period } = wanted;
  const quotas: CgroupLimits[] =
    quota === undefined ? [] : [{ cpuQuotaMicroseconds: quota, cpuPeriodMicroseconds: period }];
  const shares: CgroupLimits[] = cpuShares === undefined ? [] : [{ cpuShares }];
  const has = now?.details;
  if (has === undefined) return { before: [...quotas, ...shares], after: [] };
  const hasQuota = has.cpuQuotaMicroseconds;
  const isUnlimited = quota !== undefined && quota < 0n;
  const quotaGrows = isUnlimited || (hasQuota !== undefined && (quota ?? 0n) > BigInt(hasQuota));
  const sharesGrow = (cpuShares ?? 0n) > BigInt(has.cpuShares ?? 0);
  return {
    before: [...(quotaGrows ? quotas : []), ...(sharesGrow ? shares : [])],
    after: [...(sharesGrow ? [] : shares), ...(quotaGrows ? [] : quotas)],
  };
}
