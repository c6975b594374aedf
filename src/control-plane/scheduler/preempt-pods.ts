import { isApiError } from "../../api/api-error.ts";
import type { Pod } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { formatTime } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { ControllerDeps } from "../control-loop/controller.ts";
import { ofGeneration, withPodCondition } from "../control-loop/pod-condition.ts";
import type { EventRecorder } from "../control-loop/record-events.ts";
import { DISRUPTION_TARGET, type PodInfo, PREEMPTION_REASON } from "./pod-info.ts";
import type { Preemption } from "./preemption.ts";

interface PreemptorDeps extends Pick<ControllerDeps, "reader" | "writer" | "clock" | "log"> {
  events: Pick<EventRecorder, "record">;
}

/** Evicts pods in favour of a more important one. */
interface Preemptor {
  /** Resolves when all victims are being deleted or gone; false when one of them could not be deleted. */
  preempt(preemptor: KubeObject, preemption: Preemption): Promise<boolean>;
}

/** Deletes victims with their own grace period, after it has recorded the reason in their status. */
export function createPreemptor({ reader, writer, clock, log, events }: PreemptorDeps): Preemptor {
  const send = async (victim: PodInfo, nodeName: string, preemptor: KubeObject) => {
    const target = { resource: "pods", namespace: victim.namespace, name: victim.name };
    const object = reader.get(target);
    if (object === undefined || object.metadata.uid !== victim.uid || victim.isTerminating) return;
    const pod = typed("Pod", object);
    const marked = withPodCondition(pod, ofGeneration(CONDITION, pod), formatTime(clock.now()));
    if (marked !== undefined) await writer.update("pods", untyped(marked), "status");
    const cause = describePreemption(victim, typed("Pod", preemptor));
    await writer.remove(target, { preconditions: { uid: victim.uid }, cause });
    const message = `Preempted by pod ${preemptor.metadata.uid ?? ""} on node ${nodeName}`;
    events.record({ about: object, type: "Normal", reason: "Preempted", message });
  };
  return {
    async preempt(preemptor, { nodeName, victims }) {
      const sending = victims.map(async (victim) => {
        try {
          await send(victim, nodeName, preemptor);
          return true;
        } catch (error) {
          if (!isApiError(error)) throw error;
          log.debug("a pod was not preempted", { pod: victim.key, error: messageOf(error) });
          return error.reason === "NotFound";
        }
      });
      return (await Promise.all(sending)).every(Boolean);
    },
  };
}

function describePreemption(victim: PodInfo, { metadata, spec }: Pod): string {
  const preemptor = `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
  const priorities = `its priority ${spec?.priority ?? 0} is above ${victim.priority}`;
  return `the scheduler, to make room on ${victim.nodeName} for the pod ${preemptor}, because ${priorities}`;
}

const CONDITION = {
  type: DISRUPTION_TARGET,
  status: "True",
  reason: PREEMPTION_REASON,
  message: "default-scheduler: preempting to accommodate a higher priority pod",
};
