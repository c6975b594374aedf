import { isApiError } from "../../api/api-error.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { formatTime } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { ControllerDeps } from "../control-loop/controller.ts";
import { ofGeneration, withPodCondition } from "../control-loop/pod-condition.ts";

/**
 * Writes into the pod's status that it has no node, and why. This is information for the author and no state of ours,
 * so a failed write is not repeated: the next attempt to place the pod writes it again.
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
