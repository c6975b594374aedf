import { createAppArmorHandler } from "./app-armor.ts";
import { createDeclaredFeaturesHandler } from "./declared-features.ts";
import { createOwnPortsHandler } from "./own-ports.ts";
import { type AdmitHandler, createAdmission } from "./pod-rejection.ts";
import { createSysctlHandler } from "./sysctls.ts";
import { rejectUnsupported } from "./unsupported.ts";
import { createVolumeHandler, type VolumeAdmission } from "./volumes.ts";

/** The permissions and abilities of the node. */
interface NodeAdmissionOptions {
  readonly allowedUnsafeSysctls: readonly string[];
  /** The TCP ports on which the node itself is called. Default: none. */
  readonly ownPorts?: readonly number[];
  /** Default true. */
  readonly isAppArmorEnabled?: boolean;
  /** The features that the node declares; absent where the feature gate NodeDeclaredFeatures is off. */
  readonly declaredFeatures?: (() => readonly string[]) | undefined;
}

/** This node's rules, in order. */
export function createNodeAdmission(
  deps: VolumeAdmission,
  { allowedUnsafeSysctls, ownPorts = [], isAppArmorEnabled = true, declaredFeatures }: NodeAdmissionOptions,
): AdmitHandler {
  // A refusal that no version will lift is told before one that a later version may lift.
  return createAdmission([
    createVolumeHandler(deps),
    createDeclaredFeaturesHandler(declaredFeatures),
    rejectUnsupported,
    createOwnPortsHandler(ownPorts),
    createSysctlHandler(allowedUnsafeSysctls),
    createAppArmorHandler(isAppArmorEnabled),
  ]);
}
