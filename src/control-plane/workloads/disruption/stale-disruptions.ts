import type { Pod } from "../../../api/gen/types.ts";
import { typed, untyped } from "../../../api/object.ts";
import { isTerminalPhase } from "../../../api/pods.ts";
import { formatTime, MINUTE, parseTime } from "../../../base/clock.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../../control-loop/controller.ts";
import { namespacedKeyOf } from "../../control-loop/namespaced-key.ts";
import { ofGeneration, withPodCondition } from "../../control-loop/pod-condition.ts";
import { podNameOf } from "../../control-loop/pods-by-node.ts";
import { createWorkQueue, type WorkQueue } from "../../control-loop/work-queue.ts";

/** Whoever says that a pod is going to be disrupted deletes it at once. */
const STALE_MS = 2 * MINUTE;
const WITHDRAWN = { type: "DisruptionTarget", status: "False", reason: "", message: "" };

/**
 * Withdraws the condition DisruptionTarget of pods that were not deleted after all, because whoever was about to do so
 * ended in between (`syncStalePodDisruption`).
 */
export function createStaleDisruptions(deps: ControllerDeps): Controller {
  const { reader, writer, feed, clock } = deps;
  const queue: WorkQueue = createWorkQueue(deps, {
    name: "stale-pod-disruption",
    async reconcile(key) {
      const object = reader.get(podNameOf(key));
      const pod = object && typed("Pod", object);
      const since = pod && disruptedSince(pod);
      if (pod === undefined || since === undefined) return undefined;
      const waitMs = since + STALE_MS - clock.now();
      if (waitMs > 0) return waitMs;
      const next = withPodCondition(pod, ofGeneration(WITHDRAWN, pod), formatTime(clock.now()));
      if (next !== undefined) await unlessOvertaken(writer.update("pods", untyped(next), "status"));
      return undefined;
    },
  });
  const follow = () => [
    feed.follow("pods", ({ type, object }) => {
      const isOpen = type !== "DELETED" && disruptedSince(typed("Pod", object)) !== undefined;
      if (isOpen) queue.add(namespacedKeyOf(object.metadata));
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

/**
 * Since when the pod is said to be disrupted, in milliseconds since the epoch; undefined for a pod that is not, or that
 * ends. What the node says of itself is true however long it takes.
 */
function disruptedSince({ metadata, status }: Pod): number | undefined {
  if (metadata?.deletionTimestamp !== undefined || isTerminalPhase(status?.phase)) return undefined;
  const condition = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  if (condition?.status !== "True" || condition.reason === "TerminationByKubelet") return undefined;
  return parseTime(condition.lastTransitionTime) ?? 0;
}
