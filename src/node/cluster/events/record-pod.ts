import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import type { Decision, Timeline } from "../../../base/timeline.ts";

/** Records decisions in a pod's timeline, from which its events are made. */
export function createPodRecorder(timeline: Pick<Timeline, "record">): (pod: Pod, decision: Decision) => void {
  return (pod, decision) => timeline.record(podReference(pod), decision);
}
