import type { Container, Pod } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { effectivePod } from "../../api/pod-requests.ts";
import { isTerminalPhase } from "../../api/pods.ts";
import { computePodLimits, computePodRequests, hasPodLevelResources, type ResourceList } from "../../api/resources.ts";
import { parseTime } from "../../base/clock.ts";
import { isPodInScope, isTerminatingPod } from "./pod-scopes.ts";
import type { QuotaUsage } from "./quota-amounts.ts";
import { countName, type UsageRule } from "./usage-rule.ts";

const COUNT = countName("pods");
/** The resources that quotas know by their own name as well, which then means the requests. */
const MEASURED = ["cpu", "memory", "ephemeral-storage"];
const NAMES: ReadonlySet<string> = new Set([
  COUNT,
  "pods",
  ...MEASURED.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
/** A quota of these is for pods only whose containers all say how much they need. */
const REQUIRED: readonly string[] = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];
const DEVICE_CLASS = "deviceclass.resource.kubernetes.io/";

/** Pods: their number, requests and limits (`pkg/quota/v1/evaluator/core/pods.go`). Pods that have ended need nothing. */
export const POD_USAGE: UsageRule = {
  counts: (name) => {
    return (
      NAMES.has(name) ||
      name.startsWith("hugepages-") ||
      name.startsWith("requests.hugepages-") ||
      (name.startsWith("requests.") && isExtended(name.slice("requests.".length)))
    );
  },
  usageOf: (object, now) => usageOfPod(typed("Pod", object), now),
  isInScope: (scope, object) => isPodInScope(scope, typed("Pod", object)),
  isCharged({ operation, subresource, object, current }) {
    if (subresource === "resize") return operation === "UPDATE";
    if (subresource !== "" || object === undefined) return false;
    if (operation === "CREATE") return true;
    // A pod that gets a deadline, or loses it, goes from one scope to the other.
    return current !== undefined && isTerminating(current) !== isTerminating(object);
  },
  findGap(names, object) {
    const pod = typed("Pod", object);
    if (hasPodLevelResources(pod)) return undefined;
    const required = REQUIRED.filter((name) => names.includes(name)).sort();
    const gaps = required.flatMap((name) => {
      const containers = containersWithout(pod, name);
      return containers.length === 0 ? [] : [`${name} for: ${containers.join(",")}`];
    });
    return gaps.length === 0 ? undefined : `must specify ${gaps.join("; ")}`;
  },
};

const isTerminating = (object: KubeObject) => isTerminatingPod(typed("Pod", object));

/** A name with a domain that is not Kubernetes' own, or the class of a device. */
const isExtended = (name: string) => {
  return name.startsWith(DEVICE_CLASS) || (name.includes("/") && !name.includes("kubernetes.io/"));
};

function usageOfPod(pod: Pod, now: number): QuotaUsage {
  if (hasEnded(pod, now)) return { [COUNT]: "1" };
  const effective = effectivePod(pod);
  return { [COUNT]: "1", pods: "1", ...usageOf(computePodRequests(effective), computePodLimits(effective)) };
}

/**
 * True for a pod that runs no more, and for one that should have ended by now: a node that is lost must not keep its
 * owner from making another.
 */
function hasEnded({ metadata, status }: Pod, now: number): boolean {
  if (isTerminalPhase(status?.phase)) return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {};
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return now > (parseTime(deletionTimestamp) ?? now) + deletionGracePeriodSeconds * 1000;
}

/** The requests and limits by the names that quotas have for them. */
function usageOf(requests: ResourceList, limits: ResourceList): ResourceList {
  const usage: ResourceList = {};
  for (const [name, amount] of Object.entries(requests)) {
    if (MEASURED.includes(name) || name.startsWith("hugepages-")) {
      usage[name] = amount;
      usage[`requests.${name}`] = amount;
    } else if (isExtended(name)) {
      usage[`requests.${name}`] = amount;
    }
  }
  for (const name of MEASURED) {
    const limit = limits[name];
    if (limit !== undefined) usage[`limits.${name}`] = limit;
  }
  return usage;
}

function containersWithout({ spec }: Pod, name: string): string[] {
  const containers: Container[] = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const without = containers.filter(({ resources }) => {
    return usageOf(resources?.requests ?? {}, resources?.limits ?? {})[name] === undefined;
  });
  return [...new Set(without.map((container) => container.name))].sort();
}
