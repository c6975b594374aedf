import type { PersistentVolumeClaim } from "../../../api/gen/types.ts";
import { isDelayedClass, storageClassOf } from "../../claims/volume-match.ts";
import type { Cluster, PendingPod, StorageView } from "../cluster.ts";
import { createVolumePlanner, isBound, type VolumeHindrance } from "../plan-volumes.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const final = (reason: string): NodeRejection => ({ reasons: [reason], isFinal: true });

/** The reasons in upstream's words. */
const HINDRANCES: Readonly<Record<VolumeHindrance, NodeRejection>> = {
  lost: final("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
  elsewhere: final("node(s) didn't match PersistentVolume's node affinity"),
  "none-available": final("node(s) didn't find available persistent volumes to bind"),
  "no-space": final("node(s) did not have enough free storage"),
};

/**
 * Says why the pod's claims rule out all nodes, in upstream's words (`plugins/volumebinding`); undefined when they do
 * not.
 */
export function checkClaims({ info, ephemeralClaims }: PendingPod, { storage }: Cluster): string | undefined {
  for (const name of info.claims) {
    const claim = storage.claim(info.namespace, name);
    if (claim === undefined) {
      return ephemeralClaims.has(name)
        ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
        : `persistentvolumeclaim "${name}" not found`;
    }
    const { metadata, spec, status } = claim;
    if (status?.phase === "Lost") {
      return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${spec?.volumeName ?? ""}"`;
    }
    if (metadata?.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
    if (ephemeralClaims.has(name) && !(metadata?.ownerReferences ?? []).some(({ uid }) => uid === info.uid)) {
      return `PVC ${info.namespace}/${name} was not created for pod ${info.key} (pod is not owner)`;
    }
  }
  const unbound = info.claims
    .flatMap((name) => storage.claim(info.namespace, name) ?? [])
    .filter((claim) => !isBound(claim));
  if (unbound.some((claim) => isImmediate(claim, storage))) return "pod has unbound immediate PersistentVolumeClaims";
  return findMissingVolume({ info, ephemeralClaims }, storage);
}

/** Upstream looks for the volumes of claims here that the pod names, to read their zones (`plugins/volumezone`). */
function findMissingVolume(
  { info, ephemeralClaims }: Pick<PendingPod, "info" | "ephemeralClaims">,
  storage: StorageView,
): string | undefined {
  const names = info.claims
    .filter((name) => !ephemeralClaims.has(name))
    .flatMap((name) => storage.claim(info.namespace, name)?.spec?.volumeName || []);
  const missing = names.find((name) => storage.volume(name) === undefined);
  return missing === undefined ? undefined : `persistentvolume "${missing}" not found`;
}

/**
 * True for a claim that is bound without waiting for its pod. A claim whose author chose the volume is, whatever its
 * class.
 */
function isImmediate(claim: PersistentVolumeClaim, storage: StorageView): boolean {
  return Boolean(claim.spec?.volumeName) || !isDelayedClass(storage.storageClass(storageClassOf(claim)));
}

/**
 * Checks that the node reaches the pod's volumes, and that the claims that wait for the pod get volumes there
 * (`plugins/volumebinding`).
 */
export function filterVolumes(pod: PendingPod, cluster: Cluster): NodeFilter | undefined {
  if (pod.info.claims.length === 0) return undefined;
  const plan = createVolumePlanner(pod, cluster);
  return (node) => {
    const planned = plan(node);
    return typeof planned === "string" ? HINDRANCES[planned] : undefined;
  };
}
