import type { PersistentVolumeClaim } from "../../../api/gen/types.ts";
import type { Cluster, PendingPod } from "../cluster.ts";
import { matchesAnyTerm } from "../node-selector.ts";
import type { NodeFilter, Rejection } from "./filter.ts";

const final = (reason: string): Rejection => ({ reasons: [reason], isFinal: true });

const ELSEWHERE: Rejection = final("node(s) didn't match PersistentVolume's node affinity");
const NO_VOLUME: Rejection = final("node(s) didn't find available persistent volumes to bind");
const LOST_VOLUME: Rejection = final("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
const USED_BY_ONE: Rejection = {
  reasons: ["node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"],
  isFinal: false,
};

/**
 * Why no node at all will do, by the pod's claims, in upstream's words (`plugins/volumebinding`); undefined when the
 * nodes are to be asked.
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
  const isImmediate = ({ spec }: PersistentVolumeClaim) => storage.isDelayed(spec?.storageClassName ?? "") !== true;
  return unbound.some(isImmediate) ? "pod has unbound immediate PersistentVolumeClaims" : undefined;
}

/** Whoever binds claims to volumes says so in one of two ways. */
function isBound({ metadata, spec, status }: PersistentVolumeClaim): boolean {
  if (!spec?.volumeName) return false;
  return status?.phase === "Bound" || metadata?.annotations?.["pv.kubernetes.io/bind-completed"] !== undefined;
}

/**
 * Where the volumes of bound claims can be reached. A claim that waits for its pod to be placed needs a provisioner or
 * a controller that matches volumes, and the control plane has neither: it finds no volume on any node.
 */
export function filterVolumes({ info }: PendingPod, { storage }: Cluster): NodeFilter | undefined {
  if (info.claims.length === 0) return undefined;
  const claims = info.claims.flatMap((name) => storage.claim(info.namespace, name) ?? []);
  const bound = claims.filter(isBound).map(({ spec }) => storage.volume(spec?.volumeName ?? ""));
  return (node) => {
    for (const volume of bound) {
      if (volume === undefined) return LOST_VOLUME;
      const required = volume.spec?.nodeAffinity?.required;
      if (required !== undefined && !matchesAnyTerm(required.nodeSelectorTerms, node)) return ELSEWHERE;
    }
    return claims.every(isBound) ? undefined : NO_VOLUME;
  };
}

/** A claim that one pod of the cluster may use at a time (`plugins/volumerestrictions`). */
export function filterExclusiveClaims({ info }: PendingPod, cluster: Cluster): NodeFilter | undefined {
  const exclusive = info.claims.filter((name) => {
    return cluster.storage.claim(info.namespace, name)?.spec?.accessModes?.includes("ReadWriteOncePod") ?? false;
  });
  if (exclusive.length === 0) return undefined;
  const isUsed = (name: string) =>
    cluster.nodes.some(({ pods }) => pods.some((pod) => pod.namespace === info.namespace && pod.claims.includes(name)));
  const used = exclusive.some(isUsed);
  return () => (used ? USED_BY_ONE : undefined);
}
