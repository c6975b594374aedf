import type { Pod } from "../../../../api/gen/types.ts";
import { quantityValue } from "../../../../api/quantity.ts";
import { type CsiDriver, type CsiVolumeUse, isCsiError, isFinalCsiError } from "../../../../csi/port.ts";
import { expandClaim, type GrowthStep } from "../persistent/expand-claim.ts";
import type { CsiPluginDeps } from "./csi-ports.ts";
import type { CsiVolume } from "./csi-volume.ts";
import { readSecret } from "./publish-inputs.ts";

interface ExpandRequest {
  readonly pod: Pod;
  readonly volume: CsiVolume;
  readonly driver: CsiDriver;
  readonly use: CsiVolumeUse;
  /** Where the volume is mounted for the pod. */
  readonly volumePath: string;
  readonly stagingPath: string | undefined;
  readonly nodeName: string;
  /** See `planExpansion`. */
  readonly knownSize: string | undefined;
  readonly signal: AbortSignal;
}

type Deps = Pick<CsiPluginDeps, "clock" | "objects" | "onEvent">;

/** Has the driver grow a claimed volume; see `expandClaim`. An inline volume has no size that could change. */
export async function expandVolume(deps: Deps, request: ExpandRequest): Promise<string | undefined> {
  const { volume, driver, pod, nodeName, knownSize, signal } = request;
  const { claimed, readOnly, specName: name } = volume;
  if (claimed === undefined) return undefined;
  const step: GrowthStep = {
    canExpand: driver.capabilities.has("EXPAND_VOLUME"),
    expand: async (size) => await callExpand(deps, request, size),
    judge(error) {
      // The driver does not expand volumes that are in use.
      if (isCsiError(error, "failed-precondition")) return "declined";
      if (isCsiError(error, "invalid-argument", "out-of-range", "not-found")) return "infeasible";
      if (isCsiError(error, "unimplemented")) return "unsupported";
      return isFinalCsiError(error) ? "final" : "unknown";
    },
  };
  const { clock, objects, onEvent } = deps;
  const { updateClaimStatus } = objects;
  const growth = { pod, name, claimed, readOnly, nodeName, knownSize, signal };
  return await expandClaim({ clock, updateClaimStatus, onEvent }, growth, step);
}

async function callExpand(deps: Deps, request: ExpandRequest, volumeSize: string): Promise<void> {
  const { volume, driver, use, volumePath, stagingPath, signal } = request;
  const secrets = await readSecret(deps.objects, volume, "NodeExpandSecretRef", signal);
  const requiredBytes = quantityValue(volumeSize);
  await driver.node.expand(
    { volumeId: volume.handle, volumePath, stagingPath, requiredBytes, use, secrets },
    { signal },
  );
}
