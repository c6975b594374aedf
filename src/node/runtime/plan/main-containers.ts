import type { Container } from "../../../api/gen/types.ts";
import type { ContainerToKill } from "../pod-actions.ts";
import { findContainer } from "../pod-runtime-status.ts";
import { killUnknown, type PlanInput } from "./plan-input.ts";
import { isStartDue } from "./restart-policy.ts";

interface MainPlan {
  kill: ContainerToKill[];
  start: Container[];
  /** How many run and shall go on. */
  kept: number;
}

/** For a pod that is initialised. A container whose definition changed is replaced, whatever the restart policy says. */
export function planMainContainers(input: PlanInput): MainPlan {
  const plan: MainPlan = { kill: [], start: [], kept: 0 };
  for (const container of input.pod.spec?.containers ?? []) {
    const last = findContainer(input.status, container.name);
    if (last?.state !== "running") {
      if (!isStartDue({ pod: input.pod, container, kind: "main", last })) continue;
      if (last?.state === "unknown") plan.kill.push(killUnknown(last, "Container"));
      plan.start.push(container);
    } else if (input.isSameContainer(container, last.hash)) {
      plan.kept++;
    } else {
      const message = `Container ${container.name} definition changed, will be restarted`;
      plan.kill.push({ id: last.id, name: last.name, message });
      plan.start.push(container);
    }
  }
  return plan;
}
