import type { PersistentVolume, PersistentVolumeClaim } from "../../api/gen/types.ts";
import { isReservedFor } from "./volume-match.ts";

/** On a claim: it has been bound once. Its value does not matter. */
export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
/** On a claim or a volume: who bound it was a controller and not its author. Its value does not matter. */
export const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
/** On a claim: where its pod goes; whoever provisions the volume does it for this node. */
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";

/** Whoever binds claims to volumes is done with this one (`IsPVCFullyBound`). */
export function isFullyBound({ metadata, spec }: PersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName) && metadata?.annotations?.[BIND_COMPLETED] !== undefined;
}

/**
 * The volume with a reference to the claim; undefined when it has that already (`GetBindVolumeToClaim`). One that its
 * author reserved for the claim stays reserved by name when it is unbound, hence no annotation.
 */
export function withClaimRef(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume | undefined {
  const { metadata = {}, spec = {} } = volume;
  const { namespace, name, uid, resourceVersion } = claim.metadata ?? {};
  const isReserved = isReservedFor(volume, claim);
  if (isReserved && spec.claimRef?.uid === uid) return undefined;
  const claimRef = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  const annotations = isReserved ? metadata.annotations : { ...metadata.annotations, [BOUND_BY_CONTROLLER]: "yes" };
  return { ...volume, metadata: { ...metadata, ...(annotations && { annotations }) }, spec: { ...spec, claimRef } };
}
