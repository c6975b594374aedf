import { type KubeObject, typed } from "../../../api/object.ts";
import { type Controller, type ControllerDeps, runFollowing } from "../../control-loop/controller.ts";
import { namespacedKeyOf } from "../../control-loop/namespaced-key.ts";
import { podNameOf } from "../../control-loop/pods-by-node.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import { controllerRefOf, isControlledBy } from "../pod-control/controller-ref.ts";
import { finishedConditionOf, isManagedElsewhere, isTracked } from "./job-pods.ts";
import { releasePod } from "./release-pod.ts";

const JOBS = "jobs.batch";

/**
 * Lets the pods go that a job kept and that it will never count, because it is gone or has ended. Without it, the pods
 * of a deleted job could not be deleted.
 */
export function createJobOrphanController(deps: ControllerDeps): Controller {
  const { reader, feed } = deps;
  const queue = createWorkQueue(deps, {
    name: "job_orphan_pod",
    async reconcile(key) {
      const pod = reader.get(podNameOf(key));
      if (pod !== undefined && isOrphan(deps, pod)) await releasePod(deps, typed("Pod", pod));
      return undefined;
    },
  });
  const follow = () => [
    feed.follow("pods", ({ type, object }) => {
      if (type !== "DELETED" && isOrphan(deps, object)) queue.add(namespacedKeyOf(object.metadata));
    }),
    feed.follow(JOBS, ({ type, object }) => {
      if (type !== "DELETED" && finishedConditionOf(typed("Job", object)) === undefined) return;
      const own = reader.list("pods", object.metadata.namespace).filter((pod) => isControlledBy(pod, object));
      for (const pod of own) if (isTracked(typed("Pod", pod))) queue.add(namespacedKeyOf(pod.metadata));
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

/** True for a pod with the finalizer of a job that goes on no more, or of no job at all. */
function isOrphan({ reader }: Pick<ControllerDeps, "reader">, object: KubeObject): boolean {
  if (!isTracked(typed("Pod", object))) return false;
  const owner = controllerRefOf(object);
  if (owner === undefined) return true;
  if (owner.kind !== "Job" || owner.apiVersion !== "batch/v1") return false;
  const job = reader.get({ resource: JOBS, namespace: object.metadata.namespace ?? "", name: owner.name });
  if (job === undefined || job.metadata.uid !== owner.uid) return true;
  return !isManagedElsewhere(typed("Job", job)) && finishedConditionOf(typed("Job", job)) !== undefined;
}
