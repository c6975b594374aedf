import type { Pod } from "../api/gen/types.ts";
import type { Reason } from "./explanation.ts";
import { findMend } from "./find-mend.ts";

/** Finds the resizes that a pod waits for: those that the node cannot grant now or ever, and those that it cannot carry out. */
export function findResizes(pod: Pod, namespace: string): Reason[] {
  const conditions = (pod.status?.conditions ?? []).filter(({ status }) => status === "True");
  return conditions.flatMap(({ type, reason = "", message = "", lastProbeTime, lastTransitionTime }) => {
    const isPending = type === "PodResizePending";
    if (!isPending && !(type === "PodResizeInProgress" && reason === "Error")) return [];
    const at = lastProbeTime ?? lastTransitionTime;
    const name = `Resize${reason}`;
    const mend = findMend({ namespace, reason: name, message });
    return [{ reason: name, message, ...(at !== undefined && { at }), ...(mend !== undefined && { mend }) }];
  });
}
