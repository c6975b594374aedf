import type { OwnerReference, StatefulSet } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import { isEqualJson } from "../../../api/patch/json-value.ts";
import { controllerRefTo } from "../pod-control/controller-ref.ts";

interface ClaimOwners {
  readonly set: KubeObject & StatefulSet;
  readonly pod: KubeObject;
  /** True for a pod whose ordinal the set has given up. */
  readonly isCondemned: boolean;
}

/** What becomes of the owners of a claim. */
interface ClaimDecision {
  /** The owners that the claim is to have; undefined where it has them. */
  readonly owners: readonly OwnerReference[] | undefined;
  /** True where another controller has the claim, so that the policy of the set does not apply to it. */
  readonly isForeign: boolean;
}

/**
 * The owners with which the garbage collector deletes the claim when the set's policy wants it: the set, for claims
 * that go with it, and the pod, for claims that go when the set is scaled down.
 */
export function computeClaimOwners(claim: KubeObject, { set, pod, isCondemned }: ClaimOwners): ClaimDecision {
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  const now = claim.metadata.ownerReferences ?? [];
  // The owner of before is gone, and the claim goes with it.
  if (isOfFormerOwner(claim, set) || isOfFormerOwner(claim, pod)) return { owners: undefined, isForeign: false };
  const others = now.filter((reference) => !isOf(reference, set) && !isOf(reference, pod));
  const retains = whenDeleted !== "Delete" && whenScaled !== "Delete";
  const isForeign = !retains && others.some(({ controller }) => controller === true);
  const goesWithPod = whenScaled === "Delete" && isCondemned;
  const wanted = [...others];
  if (!isForeign && whenDeleted === "Delete" && !goesWithPod) wanted.push(controllerRefTo(set));
  if (!isForeign && goesWithPod) wanted.push(controllerRefTo(pod));
  return { owners: isEqualJson(sorted(now), sorted(wanted)) ? undefined : wanted, isForeign };
}

/** True for a claim of an object of this name that does not exist any more. */
export function isOfFormerOwner(claim: KubeObject, owner: KubeObject): boolean {
  const found = (claim.metadata.ownerReferences ?? []).find((reference) => isOf(reference, owner));
  return found !== undefined && found.uid !== owner.metadata.uid;
}

function isOf({ apiVersion, kind, name }: OwnerReference, owner: KubeObject): boolean {
  return apiVersion === owner.apiVersion && kind === owner.kind && name === owner.metadata.name;
}

function sorted(references: readonly OwnerReference[]): readonly OwnerReference[] {
  return references.toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
}
