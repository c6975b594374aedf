import { podReference } from "../../api/pods.ts";
import type { Timeline } from "../../base/timeline.ts";
import { type AdmitHandler, createAdmission } from "./admission.ts";
import { createAppArmorHandler } from "./app-armor.ts";
import { createDeclaredFeaturesHandler } from "./declared-features.ts";
import { createSysctlHandler } from "./sysctls.ts";
import { findUnwatched, rejectUnsupported } from "./unsupported.ts";
import { createVolumeHandler, type VolumeAdmission } from "./volumes.ts";

export interface NodeAdmissionDeps extends VolumeAdmission {
  timeline: Timeline;
}

/** What the node allows and has. */
export interface NodeAdmissionOptions {
  readonly allowedUnsafeSysctls: readonly string[];
  /** Default: it is. */
  readonly isAppArmorEnabled?: boolean;
  /** What the node declares; absent where the feature gate NodeDeclaredFeatures is off. */
  readonly declaredFeatures?: (() => readonly string[]) | undefined;
}

/** This node's rules, in order. A pod that is let in with something missing gets a warning that names it. */
export function createNodeAdmission(
  deps: NodeAdmissionDeps,
  { allowedUnsafeSysctls, isAppArmorEnabled = true, declaredFeatures }: NodeAdmissionOptions,
): AdmitHandler {
  // What is refused for good is told before what a later version may be able to do.
  const admit = createAdmission([
    createVolumeHandler(deps),
    createDeclaredFeaturesHandler(declaredFeatures),
    rejectUnsupported,
    createSysctlHandler(allowedUnsafeSysctls),
    createAppArmorHandler(isAppArmorEnabled),
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
    return undefined;
  };
}
