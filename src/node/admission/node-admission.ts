import { podReference } from "../../api/pods.ts";
import type { Timeline } from "../../base/timeline.ts";
import { type AdmitHandler, createAdmission } from "./admission.ts";
import { createSysctlHandler } from "./sysctls.ts";
import { findUnenforced, findUnwatched, rejectUnsupported } from "./unsupported.ts";

/** This node's rules, in order. A pod that is let in with something missing gets a warning that names it. */
export function createNodeAdmission(
  deps: { timeline: Timeline },
  options: { allowedUnsafeSysctls: readonly string[] },
): AdmitHandler {
  const admit = createAdmission([rejectUnsupported, createSysctlHandler(options.allowedUnsafeSysctls)]);
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
