import type { Volume } from "../../../api/gen/types.ts";
import type { AdmitHandler } from "./pod-rejection.ts";

/** The question whether the node can bring the pod's volumes. */
export interface VolumeAdmission {
  /** Why this node never brings a volume of that kind; the text names the volume. Default: it brings every kind. */
  findRefusedVolume?: ((volume: Volume) => string | undefined) | undefined;
}

/** Refuses pods whose volumes this node can never bring, with the reason of each. */
export function createVolumeHandler({ findRefusedVolume }: VolumeAdmission): AdmitHandler {
  return ({ spec }) => {
    const problems = (spec?.volumes ?? []).flatMap((volume) => findRefusedVolume?.(volume) ?? []);
    return problems.length === 0 ? undefined : { reason: "UnsupportedFeature", message: problems.join("; ") };
  };
}
