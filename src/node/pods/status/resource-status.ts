import type { Container, ContainerStatus, Pod, PodStatus } from "../../../api/gen/types.ts";
import { addQuantities, compareQuantities, quantityMilliValue } from "../../../api/quantity.ts";
import { amountOf, computePodLimits, computePodRequests, type ResourceList } from "../../../api/resources.ts";
import { type PodResourceInfo, withResources } from "../../resources/records/pod-resource-info.ts";
import type { ContainerRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";

type ResourceStatus = Pick<ContainerStatus, "resources" | "allocatedResources">;

/** The least that CPU limits and shares can express, below which the granted amount is shown (upstream: cm/helpers_linux.go). */
const LEAST_MILLI_CPU_LIMIT = 10n;
const LEAST_MILLI_CPU_REQUEST = 2n;

/**
 * What the node has granted a container, and what the container has: for a running one from the runtime, as far as it tells
 * and the container asks for it (upstream: `convertContainerStatusResources`, kubelet_pods.go).
 */
export function computeResourceStatus(container: Container, newest: ContainerRuntimeStatus): ResourceStatus {
  const granted = container.resources ?? {};
  const { requests, limits } = granted;
  const allocated = requests && { allocatedResources: requests };
  const actual = newest.state === "running" ? newest.resources : undefined;
  if (actual === undefined) return { ...allocated, resources: granted };
  const { milliCpuRequest, milliCpuLimit, memoryLimitBytes } = actual;
  const cpuRequest = shownCpu(milliCpuRequest, requests?.["cpu"], LEAST_MILLI_CPU_REQUEST);
  const cpuLimit = shownCpu(milliCpuLimit, limits?.["cpu"], LEAST_MILLI_CPU_LIMIT);
  const memoryLimit =
    memoryLimitBytes === undefined ? undefined : asGranted(binary(memoryLimitBytes), limits?.["memory"]);
  return {
    ...allocated,
    resources: {
      ...granted,
      ...(limits && {
        limits: { ...limits, ...(cpuLimit && { cpu: cpuLimit }), ...(memoryLimit && { memory: memoryLimit }) },
      }),
      ...(requests && { requests: { ...requests, ...(cpuRequest && { cpu: cpuRequest }) } }),
    },
  };
}

/** What pods have got in cgroups of their own, whether they set it as a whole or not. */
const APPLIED_TO_PODS: ReadonlySet<string> = new Set(["cpu", "memory"]);

/**
 * What the node has granted a pod, and what of it the pod has got: `actuated`, by default all. Of one that runs, the latter
 * is what its cgroup holds and what it sets as a whole (upstream: `convertToAPIPodLevelResourcesStatus`, kubelet_pods.go).
 */
export function computePodResourceStatus(
  pod: Pod,
  { phase, actuated }: { phase: string | undefined; actuated: PodResourceInfo | undefined },
): Pick<PodStatus, "resources" | "allocatedResources"> {
  const own = pod.spec?.resources;
  const had = withResources(pod, actuated);
  const isShown = (name: string): boolean => {
    if (phase !== "Running" || APPLIED_TO_PODS.has(name)) return true;
    return amountOf(own?.requests ?? {}, name) !== undefined || amountOf(own?.limits ?? {}, name) !== undefined;
  };
  const requests = select(computePodRequests(had), isShown);
  const limits = select(computePodLimits(had), isShown);
  const allocated = computePodRequests(pod);
  return {
    resources: { ...(!isEmpty(requests) && { requests }), ...(!isEmpty(limits) && { limits }) },
    ...(!isEmpty(allocated) && { allocatedResources: allocated }),
  };
}

function select(amounts: ResourceList, isShown: (name: string) => boolean): ResourceList {
  return Object.fromEntries(Object.entries(amounts).filter(([name]) => isShown(name)));
}

function isEmpty(amounts: ResourceList): boolean {
  return Object.keys(amounts).length === 0;
}

function shownCpu(actual: bigint | undefined, granted: string | undefined, least: bigint): string | undefined {
  if (actual === undefined) return undefined;
  if (actual <= least && quantityMilliValue(granted ?? "0") <= least) return undefined;
  return asGranted(addQuantities("0", `${actual}m`), granted);
}

/** The same amount is shown in the words of the pod. */
function asGranted(actual: string, granted: string | undefined): string {
  return granted !== undefined && compareQuantities(actual, granted) === 0 ? granted : actual;
}

/** Bytes with the largest binary suffix that leaves a whole number. */
function binary(bytes: bigint): string {
  const suffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
  let value = bytes;
  let power = 0;
  while (power + 1 < suffixes.length && value % 1_024n === 0n) {
    value /= 1_024n;
    power++;
  }
  return `${value}${suffixes[power] ?? ""}`;
}
