import { createAppArmorHandler } from "./app-armor.ts";
import { createDeclaredFeaturesHandler } from "./declared-features.ts";
import { type AdmitHandler, createAdmission } from "./pod-rejection.ts";
import { createSysctlHandler } from "./sysctls.ts";
import { rejectUnsupported } from "./unsupported.ts";
import { createVolumeHandler, type VolumeAdmission } from "./volumes.ts";

/** What the node allows and has. */
interface NodeAdmissionOptions {
  readonly allowedUnsafeSysctls: readonly string[];
  /** Default: it is. */
  readonly isAppArmorEnabled?: boolean;
  /** What the node declares; absent where the feature gate NodeDeclaredFeatures is off. */
  readonly declaredFeatures?: (() => readonly string[]) | undefined;
}

/** This node's rules, in order. */
export function createNodeAdmission(
  deps: VolumeAdmission,
  { allowedUnsafeSysctls, isAppArmorEnabled = true, declaredFeatures }: NodeAdmissionOptions,
): AdmitHandler {
  // What is refused for good is told before what a later version may be able to do.
  return createAdmission([
    createVolumeHandler(deps),
    createDeclaredFeaturesHandler(declaredFeatures),
    rejectUnsupported,
    createSysctlHandler(allowedUnsafeSysctls),
    createAppArmorHandler(isAppArmorEnabled),
  ]);
}
