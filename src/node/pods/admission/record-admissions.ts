import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { PodVerdict } from "./pod-admission.ts";

/** Records in the pods' timelines that the node has taken them, or what its verdict waits for. Who refuses tells of refusals. */
export function recordAdmissions(
  admit: (pod: Pod) => PodVerdict,
  timeline: Pick<Timeline, "record">,
): (pod: Pod) => PodVerdict {
  return (pod) => {
    const verdict = admit(pod);
    if (verdict === undefined) {
      timeline.record(podReference(pod), {
        type: "Normal",
        reason: "PodAdmitted",
        message: "The node has taken the pod",
      });
    }
    if (verdict === "undecided") {
      const message = "Whether the node takes the pod is decided when it is known what others give back";
      timeline.record(podReference(pod), { type: "Normal", reason: "AdmissionWaits", message });
    }
    return verdict;
  };
}
