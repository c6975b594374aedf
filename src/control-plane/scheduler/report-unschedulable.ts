import { isApiError } from "../../api/api-error.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { formatTime } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { ControllerDeps } from "../control-loop/controller.ts";
import { ofGeneration, withPodCondition } from "../control-loop/pod-condition.ts";

/**
 * Says in the pod's status that it has no node, and why. It is news for its author and not our state, so that nothing
 * is tried again when it cannot be written: the next attempt says it anew.
 */
export async function reportUnschedulable(
  { writer, clock, log }: Pick<ControllerDeps, "writer" | "clock" | "log">,
  object: KubeObject,
  { message, nominatedNode }: { message: string; nominatedNode: string },
): Promise<void> {
  const pod = typed("Pod", object);
  const wanted = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
  const said = withPodCondition(pod, ofGeneration(wanted, pod), formatTime(clock.now()));
  const before = pod.status?.nominatedNodeName ?? "";
  if (said === undefined && before === nominatedNode) return;
  const { nominatedNodeName: _before, ...status } = (said ?? pod).status ?? {};
  const next = { ...pod, status: { ...status, ...(nominatedNode !== "" && { nominatedNodeName: nominatedNode }) } };
  try {
    await writer.update("pods", untyped(next), "status");
  } catch (error) {
    if (!isApiError(error)) throw error;
    const { namespace, name } = object.metadata;
    log.debug("a pod's status was not written", { pod: `${namespace}/${name}`, error: messageOf(error) });
  }
}
