import type { Container } from "../../../api/gen/types.ts";
import { findContainer } from "../reading/pod-runtime-status.ts";
import { killFailed, killUnknown, type PlanInput } from "./plan-input.ts";
import { type PlannedResizes, resizeContainer } from "./planned-resizes.ts";
import type { ContainerToKill } from "./pod-actions.ts";
import { isStartDue, restartsAfterFailure } from "./restart-policy.ts";

interface MainPlan extends PlannedResizes {
  kill: ContainerToKill[];
  start: Container[];
  /** How many containers run and shall go on. */
  kept: number;
}

/**
 * Plans the main containers of a pod that is initialised. A container whose definition changed is replaced, whatever the
 * restart policy says. A container that a probe has found dead is stopped, and replaced where its policy, or else the pod's, restarts failures.
 */
export function planMainContainers(input: PlanInput): MainPlan {
  const plan: MainPlan = { kill: [], start: [], kept: 0, resizes: [], restartsToResize: false };
  for (const container of input.pod.spec?.containers ?? []) {
    const last = findContainer(input.status, container.name);
    if (last?.state !== "running") {
      if (!isStartDue({ pod: input.pod, container, kind: "main", last })) continue;
      if (last?.state === "unknown") plan.kill.push(killUnknown(last, "Container"));
      plan.start.push(container);
      continue;
    }
    if (!input.isSameContainer(container, last.hash)) {
      const message = `Container ${container.name} definition changed, will be restarted`;
      plan.kill.push({ id: last.id, name: last.name, message });
      plan.start.push(container);
      continue;
    }
    const { failed } = input.verdictOf(container, last.id);
    if (failed === undefined) {
      if (resizeContainer(plan, input, container, last) === "kept") plan.kept++;
      continue;
    }
    const restarts = restartsAfterFailure(input.pod, container);
    const message = `Container ${container.name} failed ${failed} probe${restarts ? ", will be restarted" : ""}`;
    plan.kill.push(killFailed(container, last, { failed, message }));
    if (restarts) plan.start.push(container);
  }
  return plan;
}
