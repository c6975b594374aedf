import { isDeepStrictEqual } from "node:util";
import type { PersistentVolume, PersistentVolumeClaimStatus } from "../../api/gen/types.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import { type BinderDeps, type BinderEvent, type StoredClaim, writeClaim } from "./binder-deps.ts";

/**
 * An annotation of a volume that is being resized: its former capacity, which the claim keeps until the node has grown
 * the volume.
 */
const PRE_RESIZE_CAPACITY = "volume.alpha.kubernetes.io/pre-resize-capacity";

/** The status that a claim should have. */
type WantedStatus =
  | { readonly phase: "Pending" }
  | { readonly phase: "Lost"; readonly event: BinderEvent }
  | { readonly phase: "Bound"; readonly volume: PersistentVolume };

/** Gives the claim that status and returns it. An event is recorded only when the claim was in another phase before. */
export async function setClaimStatus(deps: BinderDeps, claim: StoredClaim, wanted: WantedStatus): Promise<StoredClaim> {
  const status = computeClaimStatus(claim.status ?? {}, wanted);
  if (isDeepStrictEqual(status, claim.status)) return claim;
  const written = await writeClaim(deps, { ...claim, status }, "status");
  if (claim.status?.phase === wanted.phase) return written;
  deps.log.info("a persistent volume claim entered a phase", {
    claim: namespacedKeyOf(claim.metadata),
    phase: wanted.phase,
  });
  if (wanted.phase === "Lost") deps.events.record({ about: written, ...wanted.event });
  return written;
}

/**
 * The status of the claim. Its capacity is set when it is bound and not afterwards: resizing sets it then, and it may
 * lag behind the volume for a reason (`updateClaimStatus`).
 */
function computeClaimStatus(current: PersistentVolumeClaimStatus, wanted: WantedStatus): PersistentVolumeClaimStatus {
  const { accessModes: _modes, capacity, ...rest } = current;
  if (wanted.phase !== "Bound") return { ...rest, phase: wanted.phase };
  const { spec = {}, metadata } = wanted.volume;
  const isNew = current.phase !== "Bound";
  const before = metadata?.annotations?.[PRE_RESIZE_CAPACITY];
  const granted = before === undefined ? spec.capacity : { ...capacity, storage: before };
  const next = isNew ? granted : capacity;
  const attributes = isNew ? (current.currentVolumeAttributesClassName ?? spec.volumeAttributesClassName) : undefined;
  return {
    ...rest,
    phase: "Bound",
    ...(spec.accessModes && { accessModes: spec.accessModes }),
    ...(next && { capacity: next }),
    ...(attributes && { currentVolumeAttributesClassName: attributes }),
  };
}
