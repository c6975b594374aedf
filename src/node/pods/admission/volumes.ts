import type { Volume } from "../../../api/gen/types.ts";
import type { AdmitHandler } from "./pod-rejection.ts";

/** What the node's volumes say of a pod before it is let in. */
export interface VolumeAdmission {
  /** Why the volume, which the words name, is of a kind that this node never brings. Default: there is none. */
  findRefusedVolume?: ((volume: Volume) => string | undefined) | undefined;
}

/** Refuses pods whose volumes this node can never bring, with the reason of each. */
export function createVolumeHandler({ findRefusedVolume }: VolumeAdmission): AdmitHandler {
  return ({ spec }) => {
    const problems = (spec?.volumes ?? []).flatMap((volume) => findRefusedVolume?.(volume) ?? []);
    return problems.length === 0 ? undefined : { reason: "UnsupportedFeature", message: problems.join("; ") };
  };
}
