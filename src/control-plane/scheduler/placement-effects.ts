import { isApiError } from "../../api/api-error.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { messageOf } from "../../base/errors.ts";
import type { Decision, Timeline } from "../../base/timeline.ts";
import { NODES_REFUSED } from "../../explain/pod-decisions.ts";
import type { ControllerDeps } from "../control-loop/controller.ts";
import { podNameOf } from "../control-loop/pods-by-node.ts";
import type { EventRecorder } from "../control-loop/record-events.ts";
import { pendingPodOf } from "./cluster.ts";
import type { ClusterView } from "./cluster-view.ts";
import { describeChoice, describeRefusals } from "./describe-placement.ts";
import { releaseDevices, reserveDevices } from "./devices/reserve-devices.ts";
import type { Placement } from "./placement.ts";
import { createPreemptor } from "./preempt-pods.ts";
import { prepareVolumes } from "./prepare-volumes.ts";
import { reportUnschedulable } from "./report-unschedulable.ts";
import type { SchedulingQueue } from "./scheduling-queue.ts";

export interface SchedulerDeps extends ControllerDeps {
  /** Where it tells how each pod was placed, or why not. Default: nobody wants to know. */
  timeline?: Pick<Timeline, "record"> | undefined;
  /**
   * Puts the pod on the node, as `pods/binding` does. A read after the call sees the bound pod, even before the promise
   * resolves. Rejects with an ApiError: Conflict when somebody else was faster, NotFound.
   */
  bind(pod: KubeObject, nodeName: string): Promise<void>;
}

/** Carries out what the scheduler has decided about a pod. Failed API calls put the pod back into the queue. */
interface PlacementEffects {
  /** Gives the pod its devices, and puts it on the node. Returns whether it is there now. */
  bind(key: string, pod: KubeObject, placement: Placement & { kind: "bind" }): Promise<boolean>;
  /** Reserves and requests the volumes that the pod needs on its node. */
  prepare(key: string, pod: KubeObject, placement: Placement & { kind: "prepare" }): Promise<void>;
  /** Says why the pod waits, and evicts the pods that have to make room for it. */
  wait(key: string, pod: KubeObject, placement: Placement & { kind: "wait" }): Promise<void>;
}

interface SchedulerState {
  readonly view: Pick<ClusterView, "forget">;
  readonly queue: Pick<SchedulingQueue, "finish" | "delay">;
  readonly events: EventRecorder;
}

export function createPlacementEffects(deps: SchedulerDeps, { view, queue, events }: SchedulerState): PlacementEffects {
  const { log } = deps;
  const tell = (object: KubeObject, decision: Decision) => {
    const { namespace = "", name = "", uid = "" } = object.metadata;
    deps.timeline?.record({ namespace, name, uid }, decision);
  };
  const preemptor = createPreemptor({ ...deps, events });
  return {
    async bind(key, object, { nodeName, devices, search }) {
      try {
        await reserveDevices(deps, typed("Pod", object), devices);
        await deps.bind(object, nodeName);
      } catch (error) {
        if (!isApiError(error)) throw error;
        view.forget(key);
        // A refusal does not say whether the pod has a node by now: whoever judges bindings may refuse with any reason,
        // and a binding that was seen may yet fail to reach the disk. Where it is settled, the next look finds nothing to do.
        queue.delay(key);
        if (isWaiting(deps.reader.get(podNameOf(key)), object)) {
          log.warn("a pod could not be bound", { pod: key, node: nodeName, error: messageOf(error) });
          events.record({ about: object, type: "Warning", reason: "FailedScheduling", message: messageOf(error) });
        }
        return false;
      }
      queue.finish(key);
      const message = `Successfully assigned ${key} to ${nodeName}`;
      events.record({ about: object, type: "Normal", reason: "Scheduled", message });
      const choice = describeChoice(pendingPodOf(typed("Pod", object)), nodeName, search);
      tell(object, { type: "Normal", reason: "Scheduled", message: choice });
      return true;
    },
    async prepare(key, object, placement) {
      try {
        await prepareVolumes(deps, object, placement);
      } catch (error) {
        if (!isApiError(error)) throw error;
        log.debug("a pod's volumes could not be prepared", { pod: key, error: messageOf(error) });
        queue.delay(key);
      }
    },
    async wait(key, object, { message, refusals, nominatedNode, preemption, released }) {
      const pod = pendingPodOf(typed("Pod", object));
      const why = refusals.length === 0 ? message : describeRefusals(pod, refusals);
      tell(object, { type: "Warning", reason: NODES_REFUSED, message: why });
      // Upstream does not queue a pod whose claim is still to be made (`PreEnqueue`), and writes nothing: somebody else
      // makes the claim, or says in the status that there will be none, and would have a conflict with what is written here.
      if (!pod.deviceClaims.some(({ kind }) => kind === "not-made")) {
        events.record({ about: object, type: "Warning", reason: "FailedScheduling", message });
        await reportUnschedulable(deps, object, { message, nominatedNode });
      }
      for (const claim of released) await releaseDevices(deps, typed("Pod", object), claim);
      if (preemption === undefined) return;
      log.info("pods make room for a more important one", {
        pod: key,
        node: preemption.nodeName,
        victims: preemption.victims.map((victim) => victim.key),
      });
      const victims = preemption.victims.map((victim) => `${victim.key} (priority ${victim.priority})`).join(", ");
      const room = `Pods make room on ${preemption.nodeName} for this one, of priority ${pod.info.priority}: ${victims}`;
      tell(object, { type: "Normal", reason: "Preempting", message: room });
      if (!(await preemptor.preempt(object, preemption))) queue.delay(key);
    },
  };
}

/** True for the pod of before that has no node yet. */
function isWaiting(found: KubeObject | undefined, { metadata }: KubeObject): boolean {
  if (found === undefined || found.metadata.uid !== metadata.uid) return false;
  return (typed("Pod", found).spec?.nodeName ?? "") === "";
}
