import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { type Clock, formatTime } from "../../../base/clock.ts";
import type { Timeline } from "../../../base/timeline.ts";

interface PodRejecterDeps {
  readonly clock: Pick<Clock, "now">;
  readonly timeline: Pick<Timeline, "record">;
  readonly statuses: { set(pod: Pod, status: PodStatus): void };
}

/**
 * Publishes that a pod was refused: it has failed without having been tried. As upstream, its status says no more than
 * that (`rejectPod` of pkg/kubelet/kubelet.go).
 */
export function createPodRejecter({ clock, timeline, statuses }: PodRejecterDeps) {
  return (pod: Pod, { reason, message }: { readonly reason: string; readonly message: string }): void => {
    timeline.record(podReference(pod), { type: "Warning", reason, message });
    const startTime = formatTime(clock.now());
    const status = { phase: "Failed", reason, message: `Pod was rejected: ${message}` };
    statuses.set(pod, { ...status, qosClass: computeQosClass(pod), startTime });
  };
}
