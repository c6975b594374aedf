import { podUid } from "../../../api/pods.ts";
import type { PodProbes } from "./pod-probes.ts";

/** Wakes the pod's worker when a probe asks for a restart or a start. Readiness changes nothing but the pod's status. */
export function wakeOnVerdict(probes: Pick<PodProbes, "subscribe">, wake: (podUid: string) => void): () => void {
  return probes.subscribe(({ pod, kind }) => {
    if (kind !== "readiness") wake(podUid(pod));
  });
}
