import { podReference } from "../../api/pods.ts";
import type { Timeline } from "../../base/timeline.ts";
import { type AdmitHandler, createAdmission } from "./admission.ts";
import { createSysctlHandler } from "./sysctls.ts";
import { findUnwatched, rejectUnsupported } from "./unsupported.ts";

/** This node's rules, in order. A pod that is let in with something missing gets a warning that names it. */
export function createNodeAdmission(
  deps: { timeline: Timeline },
  options: { allowedUnsafeSysctls: readonly string[] },
): AdmitHandler {
  const admit = createAdmission([rejectUnsupported, createSysctlHandler(options.allowedUnsafeSysctls)]);
  return (pod) => {
    const rejection = admit(pod);
    const unwatched = rejection === undefined ? findUnwatched(pod) : [];
    if (unwatched.length > 0) {
      const message = `Probes are not run by this version, their containers count as ready while they run: ${unwatched.join(", ")}`;
      deps.timeline.record(podReference(pod), { type: "Warning", reason: "ProbesNotSupported", message });
    }
    return rejection;
  };
}
