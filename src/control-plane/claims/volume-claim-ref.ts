import type { PersistentVolume, PersistentVolumeClaim } from "../../api/gen/types.ts";
import { isReservedFor } from "./volume-match.ts";

/** An annotation of a claim that has been bound once. Its value does not matter. */
export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
/**
 * An annotation of a claim or a volume that was bound by a controller and not by its author. Its value does not matter.
 */
export const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
/**
 * An annotation of a claim that names the node to which its pod goes. The provisioner makes the volume for this node.
 */
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";

/** True when the binding of this claim is complete (`IsPVCFullyBound`). */
export function isFullyBound({ metadata, spec }: PersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName) && metadata?.annotations?.[BIND_COMPLETED] !== undefined;
}

/**
 * The volume with a reference to the claim; undefined when it has that already (`GetBindVolumeToClaim`). A volume that
 * its author reserved for the claim gets no annotation, so that it stays reserved by name when it is unbound.
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
