import type { Container, Pod, ResourceRequirements } from "../../../api/gen/types.ts";
import { quantityMilliValue, quantityValue } from "../../../api/quantity.ts";
import { type PodResourceInfo, resourcesIn } from "../../resources/records/pod-resource-info.ts";

/** The resources of a container that may change while it runs: thousandths of a core, and bytes; 0 is none. */
interface ContainerAmounts {
  readonly cpuRequest: bigint;
  readonly cpuLimit: bigint;
  readonly memoryRequest: bigint;
  readonly memoryLimit: bigint;
}

/** A running container whose resources are not those that the node has granted. */
export interface ContainerResize {
  readonly id: string;
  readonly container: Container;
  readonly from: ContainerAmounts;
  readonly to: ContainerAmounts;
}

interface RunningContainer {
  readonly pod: Pod;
  readonly container: Container;
  readonly id: string;
  /** What the pod's containers have got, as far as it is recorded. */
  readonly actuated: PodResourceInfo | undefined;
}

/**
 * What a running container needs to have what its pod was granted: nothing, new limits in place, or a new start where the
 * policy of a resource that changed says so (upstream: `computePodResizeAction`, kuberuntime_manager.go). A container of
 * which nothing is recorded was started with what was granted; upstream would resize it, or start it anew.
 */
export function planContainerResize(running: RunningContainer): ContainerResize | "restart" | undefined {
  const { pod, container, id, actuated } = running;
  const recorded = actuated && resourcesIn(actuated, container.name);
  if (recorded === undefined) return undefined;
  const from = amountsIn(recorded, actuated?.pod);
  const to = amountsIn(container.resources, pod.spec?.resources);
  const isCpu = from.cpuRequest !== to.cpuRequest || from.cpuLimit !== to.cpuLimit;
  const isMemory = from.memoryRequest !== to.memoryRequest || from.memoryLimit !== to.memoryLimit;
  if (!isCpu && !isMemory) return undefined;
  const restarts = (resource: string) =>
    container.resizePolicy?.some(
      ({ resourceName, restartPolicy }) => resourceName === resource && restartPolicy === "RestartContainer",
    ) === true;
  if ((isCpu && restarts("cpu")) || (isMemory && restarts("memory"))) return "restart";
  return { id, container, from, to };
}

/** A container without a limit of its own is bounded by its pod's. */
function amountsIn(own: ResourceRequirements = {}, ofPod: ResourceRequirements = {}): ContainerAmounts {
  const { requests = {}, limits = {} } = own;
  const limitOf = (name: "cpu" | "memory") => limits[name] ?? ofPod.limits?.[name] ?? "0";
  return {
    cpuRequest: quantityMilliValue(requests["cpu"] ?? "0"),
    cpuLimit: quantityMilliValue(limitOf("cpu")),
    memoryRequest: quantityValue(requests["memory"] ?? "0"),
    memoryLimit: quantityValue(limitOf("memory")),
  };
}

/** Whether the amounts of a resource differ. */
export function changes({ from, to }: ContainerResize, resource: "cpu" | "memory"): boolean {
  return resource === "cpu"
    ? from.cpuRequest !== to.cpuRequest || from.cpuLimit !== to.cpuLimit
    : from.memoryRequest !== to.memoryRequest || from.memoryLimit !== to.memoryLimit;
}

/** Sorts resizes of a resource so that those that give something back come first. */
export function byGrowth(resource: "cpu" | "memory"): (a: ContainerResize, b: ContainerResize) => number {
  const growth = ({ from, to }: ContainerResize): bigint => {
    const [limit, request] =
      resource === "cpu"
        ? [to.cpuLimit - from.cpuLimit, to.cpuRequest - from.cpuRequest]
        : [to.memoryLimit - from.memoryLimit, to.memoryRequest - from.memoryRequest];
    return limit !== 0n ? limit : request;
  };
  return (a, b) => (growth(a) < growth(b) ? -1 : growth(a) > growth(b) ? 1 : 0);
}
