import type { Container } from "../../../api/gen/types.ts";
import { lacksPodResources } from "../../resources/records/pod-resource-info.ts";
import type { ContainerRuntimeStatus } from "../reading/pod-runtime-status.ts";
import { type ContainerResize, planContainerResize } from "./container-resize.ts";
import type { PlanInput } from "./plan-input.ts";
import type { ContainerToKill, PodResize } from "./pod-actions.ts";

/** What a plan of containers says of their resources. */
export interface PlannedResizes {
  resizes: ContainerResize[];
  /** A container is started anew with other resources, to which the pod's cgroup has to be fitted. */
  restartsToResize: boolean;
}

/** Plans the resize of a container that shall run on; `restarted`: it is stopped and started with its new resources. */
export function resizeContainer(
  plan: PlannedResizes & { kill: ContainerToKill[]; start: Container[] },
  { pod, actuated }: PlanInput,
  container: Container,
  last: ContainerRuntimeStatus | undefined,
): "kept" | "restarted" {
  if (last?.state !== "running") return "kept";
  const resize = planContainerResize({ pod, container, id: last.id, actuated });
  if (resize === "restart") {
    plan.kill.push({ id: last.id, name: last.name, message: `Container ${container.name} resize requires restart` });
    plan.start.push(container);
    plan.restartsToResize = true;
    return "restarted";
  }
  if (resize !== undefined) plan.resizes.push(resize);
  return "kept";
}

/** The resize of the pod that follows from its containers' and from what it was granted as a whole. */
export function planResize({ pod, actuated }: PlanInput, plans: readonly PlannedResizes[]): PodResize | undefined {
  const containers = plans.flatMap(({ resizes }) => resizes);
  const ofPod = lacksPodResources(pod, actuated);
  const isDue = containers.length > 0 || ofPod || plans.some(({ restartsToResize }) => restartsToResize);
  return isDue ? { containers } : undefined;
}
