import type { ObjectMeta, PersistentVolumeClaim, Pod, Volume } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";

/** A claim of a pod, with the pod's volume that refers to it. */
export interface PodClaim {
  readonly volume: Volume;
  readonly claim: string;
  /** True for a claim that is made for the pod, and that the pod must own. */
  readonly isEphemeral: boolean;
}

/** The claims that the pod's volumes name, and the claims that its ephemeral volumes stand for. */
export function podClaimsOf({ metadata, spec }: Pod): readonly PodClaim[] {
  return (spec?.volumes ?? []).flatMap((volume): PodClaim[] => {
    const { persistentVolumeClaim, ephemeral, name } = volume;
    if (persistentVolumeClaim !== undefined) {
      return [{ volume, claim: persistentVolumeClaim.claimName, isEphemeral: false }];
    }
    return ephemeral === undefined ? [] : [{ volume, claim: `${metadata?.name ?? ""}-${name}`, isEphemeral: true }];
  });
}

/** The keys of the pod's claims, for an index. */
export function claimKeysOf(object: KubeObject): readonly string[] {
  const { namespace = "" } = object.metadata;
  return podClaimsOf(typed("Pod", object)).map(({ claim }) => namespacedKeyOf({ namespace, name: claim }));
}

/** Why the claim of an ephemeral volume is not the pod's; undefined when it is (`VolumeIsForPod`). */
export function whyForeign(
  { metadata: pod = {} }: Pod,
  { metadata: claim = {} }: PersistentVolumeClaim,
): string | undefined {
  if (isControlledBy(claim, pod.uid)) return undefined;
  return `PVC ${namespacedKeyOf(claim)} was not created for pod ${namespacedKeyOf(pod)} (pod is not owner)`;
}

function isControlledBy({ ownerReferences = [] }: ObjectMeta, uid: string | undefined): boolean {
  return uid !== undefined && ownerReferences.some((owner) => owner.controller === true && owner.uid === uid);
}

/**
 * True for a pod whose containers have ended, or which is deleted and has no running container: it needs no volume any
 * more (`IsPodTerminated`).
 */
export function isPodTerminated({ metadata, status }: Pod): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return true;
  if (metadata?.deletionTimestamp === undefined) return false;
  return (status?.containerStatuses ?? []).every(({ state }) => {
    return state?.terminated !== undefined || state?.waiting !== undefined;
  });
}
