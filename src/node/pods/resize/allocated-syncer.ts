import type { Pod } from "../../../api/gen/types.ts";
import type { Subject } from "../workers/pod-state.ts";
import type { PodSyncer } from "../workers/pod-syncer.ts";

/** The same syncer, which works on pods as the node has granted them, whatever more their sources ask for meanwhile. */
export function syncAllocated(syncer: PodSyncer, allocated: (pod: Pod) => Pod): PodSyncer {
  const subjectOf = (subject: Subject): Subject =>
    subject.kind === "pod" ? { ...subject, pod: allocated(subject.pod) } : subject;
  return {
    syncPod: async (work) => await syncer.syncPod({ ...work, pod: allocated(work.pod) }),
    reportPod: (pod) => syncer.reportPod(allocated(pod)),
    syncTerminatingPod: async (work) => await syncer.syncTerminatingPod({ ...work, subject: subjectOf(work.subject) }),
    syncTerminatedPod: async (work) => await syncer.syncTerminatedPod({ ...work, subject: subjectOf(work.subject) }),
  };
}
