import { podReference } from "../../api/pods.ts";
import type { Timeline } from "../../base/timeline.ts";
import { type AdmitHandler, createAdmission } from "./admission.ts";
import { createSysctlHandler } from "./sysctls.ts";
import { findUnenforced, findUnwatched, rejectUnsupported } from "./unsupported.ts";
import { createVolumeHandler, type VolumeAdmission } from "./volumes.ts";

export interface NodeAdmissionDeps extends VolumeAdmission {
  timeline: Timeline;
}

/** This node's rules, in order. A pod that is let in with something missing gets a warning that names it. */
export function createNodeAdmission(
  deps: NodeAdmissionDeps,
  options: { allowedUnsafeSysctls: readonly string[] },
): AdmitHandler {
  // What is refused for good is told before what a later version may be able to do.
  const admit = createAdmission([
    createVolumeHandler(deps),
    rejectUnsupported,
    createSysctlHandler(options.allowedUnsafeSysctls),
  ]);
  return (pod) => {
    const rejection = admit(pod);
    if (rejection !== undefined) return rejection;
    const warn = (reason: string, message: string, fields: readonly string[]) => {
      if (fields.length === 0) return;
      deps.timeline.record(podReference(pod), { type: "Warning", reason, message: `${message}: ${fields.join(", ")}` });
    };
    const probes = "Probes are not run by this version, their containers count as ready while they run";
    warn("ProbesNotSupported", probes, findUnwatched(pod));
    warn("LimitNotEnforced", "This version does not enforce limits of local storage", findUnenforced(pod));
    return undefined;
  };
}
